import { Link } from 'wouter'
import { to } from '../addresses.ts'
import { Empty } from '../parts/failure.tsx'
import { words } from '../words.ts'

export const NotFound = () => (
  <main className="page">
    <Empty title={words.failures.notFound}>
      <Link href={to.home()}>{words.failures.toStart}</Link>
    </Empty>
  </main>
)
