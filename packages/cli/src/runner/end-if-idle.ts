/** Asks a local runner to end unless it has agents; if it has, it says so in the data directory and lives on. */
export const END_IF_IDLE = "SIGUSR2"
