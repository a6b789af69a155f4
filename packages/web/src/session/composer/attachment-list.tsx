import { IconButton } from "../../design/button.tsx"
import { CloseIcon } from "../../design/icons.tsx"
import type { Attachment } from "./attachments.tsx"

interface AttachmentListProps {
  readonly images: readonly Attachment[]
  readonly onRemove: (id: string) => void
}

export function AttachmentList({ images, onRemove }: AttachmentListProps) {
  if (images.length === 0) return null
  return (
    <ul aria-label="Images" className="flex flex-wrap gap-2">
      {images.map(({ id, name, url }) => (
        <li key={id} className="relative">
          <img src={url} alt={name} className="size-16 rounded-control border border-line object-cover" />
          <IconButton
            label={`Remove ${name}`}
            look="plain"
            onClick={() => onRemove(id)}
            className="absolute -top-2 -right-2 size-6!"
          >
            <CloseIcon size={12} />
          </IconButton>
        </li>
      ))}
    </ul>
  )
}
