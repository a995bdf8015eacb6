import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** Makes a logger of JSON lines; `pretty` is for a terminal. A `Secret` (crypto.ts) is redacted. */
export const createLogger = (level: string, pretty = false): Logger =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    ...(pretty ? { transport: { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss.l' } } } : {}),
  });

/** A logger that writes nothing. */
export const silentLogger: Logger = pino({ level: 'silent' });
