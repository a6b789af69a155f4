import type { ReactNode } from "react"

interface SwitchProps {
  readonly checked: boolean
  readonly onChange: () => void
  readonly children: ReactNode
}

export function Switch({ checked, onChange, children }: SwitchProps) {
  return (
    <label className="flex min-h-9 items-center gap-3 coarse:min-h-11">
      <input type="checkbox" role="switch" checked={checked} onChange={onChange} className="switch" />
      <span>{children}</span>
    </label>
  )
}
