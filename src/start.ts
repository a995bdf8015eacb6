import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { ConfigError, readConfig } from './config.ts';
import { messageOf } from './lib/errors.ts';
import { createLogger } from './lib/log.ts';
import { startPlatform } from './platform.ts';

/** The time limit of work in progress after a signal, in milliseconds. The rest is released when its lease expires. */
const stopWithinMs = 19_500;

const refuse = (mistakes: string[]): never => {
  for (const mistake of mistakes) process.stderr.write(`configuration: ${mistake}\n`);
  process.exit(1);
};

/**
 * From here on the engine collects its heap when that has grown by half, not when it is four times as large (decision
 * 0105). During the start that would be four times, and an eighth of the processor time.
 */
const holdLessMemory = (): void => {
  if (process.versions.node.startsWith('24.')) setFlagsFromString('--heap-growing-percent=50');
};

const main = async (): Promise<void> => {
  const config = readConfig(process.env);
  // DATA_DIR may have been made by someone else, readable for all. What is written there must not be.
  process.umask(0o077);
  const log = createLogger(config.logLevel, process.stdout.isTTY);
  const fatal = (error: unknown): void => {
    log.fatal(
      { error: messageOf(error), stack: error instanceof Error ? error.stack : undefined },
      'unexpected error',
    );
    process.exit(1);
  };
  process.on('uncaughtException', fatal);
  process.on('unhandledRejection', fatal);

  let stopping = false;
  let stop: () => Promise<void> = async () => {};
  const onSignal = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error('not all work in progress ended in time; it will be done again when its lease expires');
      process.exit(0);
    }, stopWithinMs).unref();
    stop().then(() => {
      log.info('stopped');
      process.exit(0);
    }, fatal);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);

  const platform = await startPlatform(config, { log });
  stop = () => platform.stop();
  if (platform.firstKey) {
    process.stdout.write(
      `\nThe first administrator's API key, shown this once: ${platform.firstKey}\nIt ends in 24 hours, because logs keep what is printed here. Make your own key with it, which may work longer.\n\n`,
    );
  }
  if (stopping) return;
  log.info(
    {
      url: platform.url,
      api: `${platform.url}/api/v2`,
      ...(platform.managementPort === null ? {} : { management_port: platform.managementPort }),
      database: platform.database,
    },
    'Agent Platform is ready',
  );
  flushCompileCache();
  holdLessMemory();
};

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 24) {
  refuse([
    `Node ${process.versions.node} is too old; \`npm start\` runs the platform on the Node that \`npm ci\` installed`,
  ]);
}
main().catch((error) => {
  if (error instanceof ConfigError) refuse(error.mistakes);
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
});
