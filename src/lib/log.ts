import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** Structured JSON logs; pretty on a terminal. Secrets stay out by being `Secret` values (crypto.ts). */
export const createLogger = (level: string, pretty = false): Logger =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    ...(pretty ? { transport: { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss.l' } } } : {}),
  });

export const silentLogger: Logger = pino({ level: 'silent' });
