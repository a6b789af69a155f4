import { classes } from "../design/classes.ts"

/** From here on there is little left. */
const NEARLY_FULL = 80

interface ShareMeterProps {
  readonly label: string
  /** How it is called where there is little room. */
  readonly short: string
  /** In percent. */
  readonly share: number
  /** The numbers behind it. */
  readonly words: string
  readonly className?: string
}

/** How much of something is used, as a number and a bar. */
export function ShareMeter({ label, short, share, words, className }: ShareMeterProps) {
  return (
    <span
      className={classes("flex min-w-12 items-center gap-1.5 whitespace-nowrap tabular-nums", className)}
      title={`${label}: ${words}`}
    >
      <span aria-hidden="true">
        {short} {share} %
      </span>
      <span
        role="meter"
        aria-label={label}
        aria-valuenow={share}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={`${share} %, ${words}`}
        className="block h-1.5 w-10 min-w-0 overflow-hidden rounded-[3px] bg-sunken outline outline-edge/60"
      >
        <span
          ref={(element) => element?.style.setProperty("width", `${share}%`)}
          className={classes("block h-full", share >= NEARLY_FULL ? "bg-caution" : "bg-accent")}
        />
      </span>
    </span>
  )
}
