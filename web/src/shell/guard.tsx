/** What stands in the place of a page that failed, or that there is not. */
import { Component, type ReactNode } from 'react'
import { Link } from 'wouter'
import { to } from '../addresses.ts'
import { Empty, Word } from '../parts/answer.tsx'
import { Button } from '../parts/button.tsx'
import { words } from '../words.ts'

/** `onClose`: of what lies over a page, which stays as it is. */
type Props = { path: string; onClose?: () => void; children: ReactNode }

/** A page that fails says so, and leaves the frame around it. */
export class Guard extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false }
  static getDerivedStateFromError = () => ({ hasFailed: true })
  override componentDidUpdate({ path }: Props) {
    if (this.state.hasFailed && path !== this.props.path) this.setState({ hasFailed: false })
  }
  override render() {
    if (!this.state.hasFailed) return this.props.children
    const again = { label: words.failures.reload, onSelect: () => location.reload() }
    const { onClose } = this.props
    return onClose ? (
      <div className="toasts" role="alert">
        <Word of={{ text: words.failures.part, action: again }} onClose={onClose} />
      </div>
    ) : (
      <main className="page failed">
        <Empty title={words.failures.page}>
          <Button label={again.label} onClick={again.onSelect} />
        </Empty>
      </main>
    )
  }
}

export const NotFound = () => (
  <main className="page">
    <Empty title={words.failures.notFound}>
      <Link href={to.home()}>{words.failures.toStart}</Link>
    </Empty>
  </main>
)
