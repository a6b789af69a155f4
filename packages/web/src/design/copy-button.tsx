import { copyText } from "../app/copy-text.ts"
import { IconButton } from "./button.tsx"
import { CopyIcon } from "./icons.tsx"

interface CopyButtonProps {
  readonly text: string
  readonly label?: string
  readonly className?: string
}

export function CopyButton({ text, label = "Copy", className }: CopyButtonProps) {
  return (
    <IconButton
      label={label}
      look="plain"
      onClick={() => copyText(text)}
      {...(className === undefined ? {} : { className })}
    >
      <CopyIcon size={15} />
    </IconButton>
  )
}
