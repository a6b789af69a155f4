import { announce } from "../app/announcer.tsx"
import { IconButton } from "./button.tsx"
import { CopyIcon } from "./icons.tsx"

interface CopyButtonProps {
  readonly text: string
  readonly label?: string
  readonly className?: string
}

export function CopyButton({ text, label = "Copy", className }: CopyButtonProps) {
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => announce("Copied"),
      () => announce("The browser did not let us copy"),
    )
  }
  return (
    <IconButton label={label} look="plain" onClick={copy} {...(className === undefined ? {} : { className })}>
      <CopyIcon size={15} />
    </IconButton>
  )
}
