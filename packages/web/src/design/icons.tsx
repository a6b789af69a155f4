/** An icon on a field of 24 by 24: `lines` are drawn, `filled` is painted. */
function icon(
  lines: string,
  { width = 1.75, filled = "" }: { readonly width?: number; readonly filled?: string } = {},
) {
  return function Icon({ size = 18, className }: { readonly size?: number; readonly className?: string }) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth={width}
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        className={className}
      >
        <path d={lines} />
        {filled !== "" && <path d={filled} fill="currentColor" stroke="none" />}
      </svg>
    )
  }
}

function circle(x: number, y: number, radius: number): string {
  const arc = `a${radius} ${radius} 0 1 0`
  return `M${x - radius} ${y}${arc} ${2 * radius} 0${arc} ${-2 * radius} 0`
}

/** A box from its upper left corner, with rounded corners. */
function box(x: number, y: number, width: number, height: number, radius: number): string {
  const [across, down] = [width - 2 * radius, height - 2 * radius]
  const turn = (toX: number, toY: number) => `a${radius} ${radius} 0 0 1 ${toX * radius} ${toY * radius}`
  const start = `M${x + radius} ${y}`
  return `${start}h${across}${turn(1, 1)}v${down}${turn(-1, 1)}h${-across}${turn(-1, -1)}v${-down}${turn(1, -1)}z`
}

/** Three levers of a signal box on their floor line, the middle one thrown. */
export const Logo = icon("M3 20h18M6 20V8M12 20l3.2-11M20 20V8", {
  width: 2,
  filled: circle(6, 6, 1.8) + circle(15.6, 7, 1.8) + circle(20, 6, 1.8),
})
export const SessionsIcon = icon("M4 6h16M4 12h16M4 18h10")
export const RequestsIcon = icon("M5 21V4M5 5h11l-2 4 2 4H5")
export const WholeIcon = icon("M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7")
export const SearchIcon = icon(`${circle(11, 11, 6.5)}M16 16l4.5 4.5`)
export const MachinesIcon = icon(box(3.5, 4, 17, 7, 1.5) + box(3.5, 13, 17, 7, 1.5), {
  filled: circle(7, 7.5, 1.25) + circle(7, 16.5, 1.25),
})
export const PolicyIcon = icon("M12 3.5l7 2.5v5.5c0 4.2-2.8 7.4-7 9-4.2-1.6-7-4.8-7-9V6l7-2.5ZM9 11.8l2.2 2.2 4-4.2")
export const SettingsIcon = icon(`M4 7h10M18 7h2M4 17h2M10 17h10${circle(16, 7, 2)}${circle(8, 17, 2)}`)
export const BranchIcon = icon(`${circle(6, 5, 2)}${circle(6, 19, 2)}${circle(18, 8, 2)}M6 7v10M18 10c0 4-5 4-12 6`)
export const PlusIcon = icon("M12 5v14M5 12h14")
export const MoreIcon = icon("M5 12h.01M12 12h.01M19 12h.01", { width: 2.6 })
export const CloseIcon = icon("m6 6 12 12M18 6 6 18")
export const BackIcon = icon("m14.5 5-7 7 7 7")
export const NextIcon = icon("m9.5 5 7 7-7 7")
export const CheckIcon = icon("m5 12.5 4.5 4.5L19 7.5", { width: 2.2 })
export const RingIcon = icon(circle(12, 12, 6))
export const DownIcon = icon("m6 9.5 6 6 6-6")
export const StopIcon = icon("", { filled: box(6.5, 6.5, 11, 11, 1.5) })
export const SendIcon = icon("M12 19V5M6 11l6-6 6 6")
export const CopyIcon = icon(
  `${box(8.5, 8.5, 11, 11, 1.5)}M15.5 8.5v-3a1 1 0 0 0-1-1h-9a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1h3`,
)
export const DocumentIcon = icon("M7 3.5h7l4 4v13H7v-17ZM14 3.5v4h4M10 12h5M10 16h5")
export const PictureIcon = icon(`${box(3.5, 5, 17, 14, 2)}${circle(9, 10, 1.6)}M4.5 17.5l5-4 3 2.2 3.5-3.2 4 3.5`)
export const EditIcon = icon("m14.5 5.5 4 4L8 20H4v-4L14.5 5.5Z")
export const BoardIcon = icon("M5 4.5v15M12 4.5v10M19 4.5v6", { width: 3 })
export const LinkIcon = icon(
  "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7L12 17",
)
export const ForkIcon = icon(
  `M6 7.5V9a3 3 0 0 0 3 3h6a3 3 0 0 0 3-3V7.5M12 12v4.5${circle(6, 5, 2.2)}${circle(18, 5, 2.2)}${circle(12, 19, 2.2)}`,
)
export const PanelIcon = icon(`${box(3.5, 4.5, 17, 15, 2)}M14.5 4.5v15`)
export const EyeIcon = icon(`M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Z${circle(12, 12, 2.5)}`)
export const PinIcon = icon("M9 3.5h6M10 3.5v6l-3 4h10l-3-4v-6M12 13.5v7")
