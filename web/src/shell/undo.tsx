import { lazy, Suspense, useEffect } from 'react'
import { asked } from '../parts/undo/asked.ts'
import { Guard } from './guard.tsx'

const UndoDialog = lazy(() => import('../parts/undo/dialog.tsx'))
const end = () => asked.set(undefined)

/** The undo that was asked for. It ends with the page. */
export function AskedUndo({ path }: { path: string }) {
  const undo = asked.use()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another path is another page
  useEffect(() => end, [path])
  return (
    undo && (
      <Guard path={path} onClose={end}>
        <Suspense>
          <UndoDialog {...undo} onClose={end} />
        </Suspense>
      </Guard>
    )
  )
}
