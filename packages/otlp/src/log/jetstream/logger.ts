/** A line of the log: details and a message, or the message alone. */
interface Line {
  (details: object, message: string): void;
  (message: string): void;
}

/** Logger of the log on JetStream; a logger of pino is one. */
export interface Logger {
  debug: Line;
  info: Line;
  warn: Line;
  error: Line;
}
