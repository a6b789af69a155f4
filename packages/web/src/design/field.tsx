import {
  type InputHTMLAttributes,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  useId,
} from "react"
import { classes } from "./classes.ts"

export const INPUT =
  "w-full min-h-8 rounded-control border border-edge bg-surface px-2.5 py-1 text-input text-text coarse:min-h-11 aria-invalid:border-danger"

interface Labelled {
  readonly label: string
  readonly hint?: ReactNode
  readonly error?: string | undefined
}

interface FieldProps extends Labelled {
  /** A control of the field's own, at the end of its label's line. */
  readonly aside?: ReactNode
  readonly children: (ids: {
    id: string
    "aria-describedby": string | undefined
    "aria-invalid": boolean | undefined
  }) => ReactNode
}

/** A label, a control, and below it what is wrong or what to know. */
export function Field({ label, hint, error, aside, children }: FieldProps) {
  const id = useId()
  return (
    <div className="flex flex-col gap-1">
      <div className="flex flex-wrap items-center justify-between gap-x-2">
        <label htmlFor={id} className="text-dense font-medium text-text">
          {label}
        </label>
        {aside}
      </div>
      {children({ id, ...notedBy(id, { hint, error }) })}
      <FieldNote id={id} hint={hint} error={error} />
    </div>
  )
}

type Noted = Pick<Labelled, "hint" | "error">

/** A control is described by what stands below it. */
function notedBy(id: string, { hint, error }: Noted) {
  return {
    "aria-describedby": (error ?? hint) === undefined ? undefined : `${id}-note`,
    "aria-invalid": error === undefined ? undefined : true,
  }
}

function FieldNote({ id, hint, error }: Noted & { readonly id: string }) {
  const note = error ?? hint
  if (note === undefined) return null
  return (
    <p id={`${id}-note`} className={classes("text-meta", error === undefined ? "text-text-3" : "text-danger")}>
      {note}
    </p>
  )
}

interface TextFieldProps extends Labelled, InputHTMLAttributes<HTMLInputElement> {
  readonly ref?: Ref<HTMLInputElement>
}

export function TextField({ label, hint, error, className, ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => <input className={classes(INPUT, className)} {...ids} {...rest} />}
    </Field>
  )
}

export interface Choice {
  readonly value: string
  readonly label: string
}

type SelectProps = SelectHTMLAttributes<HTMLSelectElement> & { readonly choices: readonly Choice[] }

/** The browser's own: it is the one that every phone, reader and keyboard knows. */
export function Select({ choices, className, ...rest }: SelectProps) {
  return (
    <select
      className={classes(
        "select min-h-8 max-w-full rounded-control border border-edge bg-surface ps-2.5 py-1 text-input text-text coarse:min-h-11",
        className,
      )}
      {...rest}
    >
      {choices.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}

/** The text in a field of a form, without the space around it. */
export function formText(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name)
  return typeof value === "string" ? value.trim() : ""
}

/** Keys that a field takes for itself: nothing around it hears of them, unless their handler says "not-here". */
export function fieldKeys(keys: Readonly<Record<string, (event: KeyboardEvent<HTMLElement>) => unknown>>) {
  return (event: KeyboardEvent<HTMLElement>): void => {
    if (event.nativeEvent.isComposing) return
    const run = keys[event.key]
    if (run === undefined || run(event) === "not-here") return
    event.preventDefault()
    event.stopPropagation()
  }
}

interface SwitchProps extends Omit<Labelled, "label"> {
  readonly checked: boolean
  readonly onChange: () => void
  readonly children: ReactNode
}

export function Switch({ checked, hint, error, onChange, children }: SwitchProps) {
  const id = useId()
  return (
    <div>
      <label className="flex min-h-9 items-center gap-3 coarse:min-h-11">
        <input
          type="checkbox"
          role="switch"
          checked={checked}
          onChange={onChange}
          className="switch"
          {...notedBy(id, { hint, error })}
        />
        <span>{children}</span>
      </label>
      <FieldNote id={id} hint={hint} error={error} />
    </div>
  )
}
