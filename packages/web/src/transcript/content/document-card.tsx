import { announce } from "../../app/announcer.tsx"
import { Button } from "../../design/button.tsx"
import { DocumentIcon } from "../../design/icons.tsx"
import { oneLine } from "../../design/visible-characters.ts"
import { bytes } from "../../design/words.ts"
import type { DocumentSource } from "./documents.tsx"
import { saveFile } from "./save-file.ts"

/** A document is not drawn here: it is handed to whatever the reader opens such files with. */
export function DocumentCard({ document }: { readonly document: DocumentSource }) {
  const name = oneLine(document.name, 120)
  const download = () => {
    const file = pdfOf(document.data, name)
    if (file === undefined) announce("The document cannot be read")
    else saveFile(file)
  }
  return (
    <div className="flex max-w-md items-center gap-3 self-start rounded-card border border-line bg-surface py-2 ps-3 pe-2">
      <DocumentIcon className="shrink-0 text-text-3" />
      <p className="min-w-0 flex-1">
        <bdi title={name} className="block truncate text-dense font-medium text-text">
          {name}
        </bdi>
        <span className="block text-meta text-text-3">PDF · {bytes(document.bytes)}</span>
      </p>
      <Button look="quiet" aria-label={`Download ${name}`} onClick={download}>
        Download
      </Button>
    </div>
  )
}

/** Undefined: it is no base64. */
function pdfOf(data: string, name: string): File | undefined {
  try {
    return new File([Uint8Array.from(atob(data), (char) => char.charCodeAt(0))], name, { type: "application/pdf" })
  } catch {
    return undefined
  }
}
