# syntax=docker/dockerfile:1
# The package is built from this directory, and the image has the package with the locked dependencies only.
FROM node:24-slim AS build
WORKDIR /build
# Dependencies first: they are installed again only when they change.
COPY package.json package-lock.json ./
COPY packages/client/package.json packages/client/
COPY packages/checkout/package.json packages/checkout/
COPY web/package.json web/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN mkdir /package \
  && npm pack --silent --pack-destination /package \
  && tar -xzf /package/plinth-*.tgz -C /package --strip-components=1 \
  && rm /package/plinth-*.tgz \
  && cp package-lock.json /package/
# Without what only a checkout has, the lock has no packages that are optional peers here: the Prisma CLI, TypeScript.
RUN cd /package \
  && npm pkg delete devDependencies workspaces \
  && npm install --package-lock-only --ignore-scripts --no-audit --no-fund

FROM node:24-slim
# The init passes signals on and reaps what PostgreSQL leaves.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/plinth
# npm runs the script "prepare" in bin/ at the end of an install.
COPY --from=build /package/package.json /package/package-lock.json ./
COPY --from=build /package/bin ./bin
RUN npm ci --no-audit --no-fund \
  && rm -rf /root/.npm \
  && install -d -o node -g node -m 0700 /var/lib/plinth
COPY --from=build /package ./
ENV NODE_ENV=production \
    PLINTH_HOST=0.0.0.0 \
    PLINTH_PORT=4000 \
    PLINTH_DATA_DIR=/var/lib/plinth \
    MALLOC_ARENA_MAX=1 \
    MALLOC_MMAP_THRESHOLD_=131072
USER node
VOLUME /var/lib/plinth
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PLINTH_PORT + '/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "node", "--max-semi-space-size=16", "--no-parallel-scavenge", "--no-allocation-site-pretenuring", "bin/plinth.mjs"]
CMD ["serve"]
