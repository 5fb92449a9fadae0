import { Component, type ReactNode } from 'react'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/failure.tsx'
import { words } from '../words.ts'

type Props = { path: string; children: ReactNode }

/** A page that fails says so, and leaves the frame around it. */
export class Guard extends Component<Props, { hasFailed: boolean }> {
  override state = { hasFailed: false }
  static getDerivedStateFromError = () => ({ hasFailed: true })
  override componentDidUpdate({ path }: Props) {
    if (this.state.hasFailed && path !== this.props.path) this.setState({ hasFailed: false })
  }
  override render() {
    if (!this.state.hasFailed) return this.props.children
    return (
      <main className="page">
        <Empty title={words.failures.page}>
          <Button label={words.failures.reload} onClick={() => location.reload()} />
        </Empty>
      </main>
    )
  }
}
