/** The command was given something it cannot take. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}
