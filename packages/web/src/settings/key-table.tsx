interface KeyGroup {
  readonly title: string
  readonly keys: readonly (readonly [keys: string, what: string])[]
}

const KEY_GROUPS: readonly KeyGroup[] = [
  {
    title: "Everywhere",
    keys: [
      ["Ctrl/⌘ K", "Command palette"],
      ["?", "Keyboard shortcuts"],
      ["c", "New session"],
      ["g s", "Sessions"],
      ["g a", "Requests"],
      ["g m", "Machines"],
      ["g p", "Policy"],
      ["/", "Search (this session, if one is open)"],
      ["F6", "Open requests, then other regions"],
    ],
  },
  {
    title: "Lists",
    keys: [
      ["j / k", "Next / previous"],
      ["↑ ↓ ← →", "Rows, and the controls of a row"],
      ["x", "Select session (Shift+x, Shift+↓: range)"],
      ["Enter", "Open"],
      ["i", "Interrupt focused session"],
      ["#", "Archive focused session"],
      ["t", "Test a request (on rules)"],
    ],
  },
  {
    title: "A session",
    keys: [
      ["Enter", "Send (Shift+Enter: new line)"],
      ["Ctrl/⌘ .", "Interrupt"],
      ["[ / ]", "Previous / next turn"],
      ["Home / End", "First event / latest"],
    ],
  },
  {
    title: "In a request",
    keys: [
      ["y", "Read on, then allow"],
      ["n", "Deny…"],
      ["e", "Edit"],
      ["a", "Allow and remember"],
      ["d", "Full screen"],
      ["Escape", "Go back"],
    ],
  },
]

export function KeyTable() {
  return (
    <div className="grid gap-x-8 gap-y-6 tablet:grid-cols-2">
      {KEY_GROUPS.map(({ title, keys }) => (
        <section key={title}>
          <h3 className="mb-2 text-dense font-bold text-text-2">{title}</h3>
          <dl className="flex flex-col gap-1.5">
            {keys.map(([name, what]) => (
              <div key={name} className="grid grid-cols-[6.5rem_1fr] items-baseline gap-3">
                <dt>
                  <kbd className="rounded-mark border border-line bg-sunken px-1.5 font-mono text-meta whitespace-nowrap">
                    {name}
                  </kbd>
                </dt>
                <dd className="text-dense text-text-2">{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  )
}
