interface ChangeCountsProps {
  readonly added: number
  readonly removed: number
  /** The same in a sentence, for those who hear it, or point at it. */
  readonly words?: string
  readonly className?: string
}

/** `+3 −2` */
export function ChangeCounts(props: ChangeCountsProps) {
  const { added, removed, words, className = "shrink-0 font-mono text-meta leading-5 tabular-nums" } = props
  return (
    <span title={words} className={className}>
      <span aria-hidden={words !== undefined}>
        <span className="text-clear">+{added}</span> <span className="text-danger">−{removed}</span>
      </span>
      {words !== undefined && <span className="sr-only">{words}</span>}
    </span>
  )
}
