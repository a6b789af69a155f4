/** The product's name, in the one place that has it. */
export const APP_NAME = "Signalbox"
