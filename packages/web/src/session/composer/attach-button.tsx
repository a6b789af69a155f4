import { useRef } from "react"
import { IconButton } from "../../design/button.tsx"
import { PictureIcon } from "../../design/icons.tsx"
import { IMAGE_TYPES } from "./attachments.tsx"

/** On a phone nothing is pasted or dropped: there this is the way to send a picture. */
export function AttachButton({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={IMAGE_TYPES.join(",")}
        multiple
        hidden
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])])
          // So that the same one can be chosen again.
          target.value = ""
        }}
      />
      <IconButton
        label="Attach images"
        onClick={() => input.current?.click()}
        className="size-9! shrink-0 coarse:size-11!"
      >
        <PictureIcon />
      </IconButton>
    </>
  )
}
