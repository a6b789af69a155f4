import { NextIcon } from "../design/icons.tsx"

/** The line that opens a part of the form. Its `details` is a `group`. */
export function MoreSummary({ children }: { readonly children: string }) {
  return (
    <summary className="flex min-h-8 w-fit list-none items-center gap-1.5 rounded-control text-dense font-medium text-text-2 hover:text-text coarse:min-h-11 [&::-webkit-details-marker]:hidden">
      <NextIcon size={12} className="group-open:rotate-90" />
      {children}
    </summary>
  )
}
