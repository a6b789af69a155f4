import type { ReactNode } from "react"

interface IconProps {
  readonly size?: number
  readonly className?: string
}

function icon(paths: ReactNode) {
  return function Icon({ size = 18, className }: IconProps) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        className={className}
      >
        {paths}
      </svg>
    )
  }
}

/** Three levers of a signal box on their floor line, the middle one thrown. */
export const Logo = icon(
  <>
    <path strokeWidth="2" d="M3 20h18M6 20V8M12 20l3.2-11M20 20V8" />
    <g fill="currentColor" stroke="none">
      <circle cx="6" cy="6" r="1.8" />
      <circle cx="15.6" cy="7" r="1.8" />
      <circle cx="20" cy="6" r="1.8" />
    </g>
  </>,
)
export const SessionsIcon = icon(<path d="M4 6h16M4 12h16M4 18h10" />)
export const RequestsIcon = icon(<path d="M5 21V4M5 5h11l-2 4 2 4H5" />)
export const WholeIcon = icon(<path d="M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7" />)
export const SearchIcon = icon(
  <>
    <circle cx="11" cy="11" r="6.5" />
    <path d="m16 16 4.5 4.5" />
  </>,
)
export const MachinesIcon = icon(
  <>
    <rect x="3.5" y="4" width="17" height="7" rx="1.5" />
    <rect x="3.5" y="13" width="17" height="7" rx="1.5" />
    <path d="M7 7.5h.01M7 16.5h.01" strokeWidth="2.5" />
  </>,
)
export const SettingsIcon = icon(
  <>
    <path d="M4 7h10M18 7h2M4 17h2M10 17h10" />
    <circle cx="16" cy="7" r="2" />
    <circle cx="8" cy="17" r="2" />
  </>,
)
export const PlusIcon = icon(<path d="M12 5v14M5 12h14" />)
export const MoreIcon = icon(<path d="M5 12h.01M12 12h.01M19 12h.01" strokeWidth="2.6" />)
export const CloseIcon = icon(<path d="m6 6 12 12M18 6 6 18" />)
export const BackIcon = icon(<path d="m14.5 5-7 7 7 7" />)
export const NextIcon = icon(<path d="m9.5 5 7 7-7 7" />)
export const DownIcon = icon(<path d="m6 9.5 6 6 6-6" />)
export const StopIcon = icon(<rect x="6.5" y="6.5" width="11" height="11" rx="1.5" fill="currentColor" stroke="none" />)
export const SendIcon = icon(<path d="M12 19V5M6 11l6-6 6 6" />)
export const CopyIcon = icon(
  <>
    <rect x="8.5" y="8.5" width="11" height="11" rx="1.5" />
    <path d="M15.5 8.5v-3a1 1 0 0 0-1-1h-9a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1h3" />
  </>,
)
export const DocumentIcon = icon(<path d="M7 3.5h7l4 4v13H7v-17ZM14 3.5v4h4M10 12h5M10 16h5" />)
export const PictureIcon = icon(
  <>
    <rect x="3.5" y="5" width="17" height="14" rx="2" />
    <circle cx="9" cy="10" r="1.6" />
    <path d="m4.5 17.5 5-4 3 2.2 3.5-3.2 4 3.5" />
  </>,
)
export const EditIcon = icon(<path d="m14.5 5.5 4 4L8 20H4v-4L14.5 5.5Z" />)
export const BoardIcon = icon(<path d="M5 4.5v15M12 4.5v10M19 4.5v6" strokeWidth="3" />)
export const LinkIcon = icon(
  <path d="M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7L12 17" />,
)
export const ForkIcon = icon(
  <>
    <path d="M6 7.5V9a3 3 0 0 0 3 3h6a3 3 0 0 0 3-3V7.5M12 12v4.5" />
    <circle cx="6" cy="5" r="2.2" />
    <circle cx="18" cy="5" r="2.2" />
    <circle cx="12" cy="19" r="2.2" />
  </>,
)
export const PanelIcon = icon(
  <>
    <rect x="3.5" y="4.5" width="17" height="15" rx="2" />
    <path d="M14.5 4.5v15" />
  </>,
)
export const EyeIcon = icon(
  <>
    <path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Z" />
    <circle cx="12" cy="12" r="2.5" />
  </>,
)
