/** How an agent is connected: where, with which client, and with a token of its own. */
import { useState } from 'react'
import { MCP_CLIENTS, mcpServerName } from '../../../src/contract/mcp-clients.ts'
import { type Endpoint, type Page, pathOf, useRead } from '../api/queries.ts'
import { Button } from '../parts/button.tsx'
import { Copied } from '../parts/copied.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Fields, Segments } from '../parts/fields.tsx'
import { useMay } from '../parts/grants.ts'
import { placesFor, TokenForm, TokenOnce } from '../parts/token-form.tsx'
import { words } from '../words.ts'

type Client = keyof typeof words.connect.clients

export function ConnectButton({ base }: { base: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button
        icon="plug"
        label={<span className="connect-word">{words.nav.connect}</span>}
        aria-label={words.nav.connect}
        onClick={() => setOpen(true)}
      />
      {isOpen && <Connect base={base} onClose={() => setOpen(false)} />}
    </>
  )
}

function Connect({ base, onClose }: { base: string; onClose: () => void }) {
  const [client, setClient] = useState<Client>('claude-code')
  const [draft, setDraft] = useState({ endpoint: '' })
  const { endpoint } = draft
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<{ name: string; token: string }>()
  const endpoints = useRead<Page<Endpoint>>(pathOf([base, 'endpoints'], { limit: 1000 })).data?.data ?? []
  const mayMake = useMay(base, '*', 'admin')
  const path = [base, ...(endpoint === '' ? [] : ['e', endpoint])].map(encodeURIComponent).join('/')
  const url = `${location.origin}/mcp/${path}`
  return (
    <Dialog title={words.nav.connect} onClose={onClose}>
      <p>{words.connect.about}</p>
      <div className="form-grid">
        <Fields
          of={[{ name: 'endpoint', label: words.connect.where, options: placesFor(endpoints) }]}
          draft={draft}
          onChange={setDraft}
        />
      </div>
      <Segments
        label={words.connect.client}
        options={words.connect.clients}
        value={client}
        onChange={setClient}
      />
      <div>
        <p className="meta">
          {client === 'curl' ? words.connect.curl : words.connect.file(MCP_CLIENTS[client].file)}
        </p>
        <Copied
          label={words.connect.config(words.connect.clients[client])}
          text={
            client === 'curl'
              ? curl(url)
              : MCP_CLIENTS[client].text({ name: mcpServerName(base, endpoint || undefined), url })
          }
        />
        <p className="meta">{client === 'vscode' ? words.connect.asked : words.connect.environment}</p>
      </div>
      {made ? (
        <TokenOnce {...made} />
      ) : isMaking ? (
        <TokenForm key={endpoint} base={base} endpoints={endpoints} agentOf={endpoint} onMade={setMade} />
      ) : mayMake ? (
        <Button className="primary to-start" label={words.connect.token} onClick={() => setMaking(true)} />
      ) : (
        <p className="meta">{words.connect.askAdmin}</p>
      )}
    </Dialog>
  )
}

const curl = (url: string) =>
  [
    `curl -sS '${url.replaceAll("'", '%27')}' -H "Authorization: Bearer $PLINTH_TOKEN" \\`,
    "  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\",
    `  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`,
  ].join('\n')
