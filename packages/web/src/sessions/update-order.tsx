import { Button } from "../design/button.tsx"

/** Offered while rows are held where they stand. It takes no room: nothing moves when it comes. */
export function UpdateOrder({ moved, onUpdate }: { readonly moved: number; readonly onUpdate: () => void }) {
  if (moved === 0) return null
  return (
    <div className="pointer-events-none sticky top-1 z-10 flex h-0 justify-center">
      <Button onClick={onUpdate} className="pointer-events-auto h-8 shadow-popover">
        Update order, {moved} moved
      </Button>
    </div>
  )
}
