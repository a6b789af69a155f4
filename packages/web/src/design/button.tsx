import type { ButtonHTMLAttributes, Ref } from "react"
import { copyText } from "../app/announcer.tsx"
import { pressesOnce } from "../app/keyboard.ts"
import { classes } from "./classes.ts"
import { CopyIcon } from "./icons.tsx"

type ButtonLook = "primary" | "plain" | "quiet" | "danger" | "caution"

const LOOKS: Readonly<Record<ButtonLook, string>> = {
  primary: "bg-accent text-on-accent border-transparent shadow-control hover:brightness-110",
  plain: "bg-surface text-text border-rim shadow-control hover:border-edge hover:bg-sunken",
  quiet: "bg-transparent text-text-2 border-transparent hover:bg-sunken hover:text-text",
  danger: "bg-danger-solid text-on-danger border-transparent shadow-control hover:brightness-110",
  caution: "bg-caution-solid text-on-caution border-transparent shadow-control hover:brightness-105",
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: ButtonLook
  readonly ref?: Ref<HTMLButtonElement>
}

/** `aria-disabled` looks as disabled as `disabled` does, but can be reached and says why. */
export function Button({ look = "plain", className, type = "button", onKeyDown, ...rest }: ButtonProps) {
  const isInert = rest.disabled === true || rest["aria-disabled"] === true || rest["aria-disabled"] === "true"
  return (
    <button
      type={type}
      className={classes(
        "inline-flex min-h-8 items-center justify-center gap-1.5 rounded-control border px-3 py-1 text-ui font-medium whitespace-nowrap select-none coarse:min-h-11 coarse:min-w-11",
        isInert ? "border-line bg-sunken text-text-3" : LOOKS[look],
        className,
      )}
      onKeyDown={(event) => {
        pressesOnce(event)
        onKeyDown?.(event)
      }}
      {...rest}
    />
  )
}

/** A button that shows a picture and says its name. */
export function IconButton({ label, look = "quiet", className, ...rest }: ButtonProps & { readonly label: string }) {
  return (
    <Button
      look={look}
      aria-label={label}
      title={label}
      className={classes("size-8 px-0! coarse:size-11", className)}
      {...rest}
    />
  )
}

/** A key of the keyboard, beside what it does. Not read aloud: the button's name says enough. */
export function KeyHint({ children }: { readonly children: string }) {
  return (
    <kbd
      aria-hidden="true"
      className="rounded-mark border border-current/25 px-1 font-mono text-meta leading-4 opacity-80 coarse:hidden"
    >
      {children}
    </kbd>
  )
}

type CopyButtonProps = Pick<ButtonProps, "className"> & { readonly text: string; readonly label?: string }

export function CopyButton({ text, label = "Copy", className }: CopyButtonProps) {
  return (
    <IconButton label={label} look="plain" onClick={() => copyText(text)} className={className}>
      <CopyIcon size={15} />
    </IconButton>
  )
}
