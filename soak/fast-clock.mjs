// @ts-check
// Loaded into the hub of the scripted year before anything else: its clock runs so fast that a day takes two seconds. It is a
// function of the real one alone, so every thread, and the hub that comes after a kill, has the same time.

const SPEED = (24 * 60 * 60) / 2
/** The moment at which both clocks agree. */
const SINCE = Number(process.env["SIGNALBOX_SOAK_SINCE"])

const realNow = Date.now.bind(Date)
const fastNow = () => SINCE + Math.floor((realNow() - SINCE) * SPEED)

globalThis.Date = new Proxy(Date, {
  construct: (RealDate, given) => Reflect.construct(RealDate, given.length === 0 ? [fastNow()] : given),
  get: (RealDate, name) => (name === "now" ? fastNow : Reflect.get(RealDate, name)),
})
