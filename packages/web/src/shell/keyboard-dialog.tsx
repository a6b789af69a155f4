import { Dialog } from "../design/dialog.tsx"
import { PartBoundary } from "../design/lazy-part.tsx"
import { KeyTable } from "./routes.tsx"

export function KeyboardDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" open={open} onClose={onClose} className="max-w-2xl">
      {/* On a phone it scrolls, and there is nothing in it to tab to. */}
      <div tabIndex={0} role="group" aria-label="Keys" className="overflow-y-auto px-4 pt-1 pb-4">
        <PartBoundary>
          <KeyTable />
        </PartBoundary>
      </div>
    </Dialog>
  )
}
