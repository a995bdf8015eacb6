import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { backOff } from '../../lib/back-off.ts';
import type { Egress } from '../../lib/egress.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import { clientOptions, silentSlackLogger, slackFailureOf } from '../kinds/slack/client.ts';
import type { SettingsOf } from '../settings.ts';
import { type Click, clickOf } from './click.ts';

/** Slack greets a connection with `hello`; one that does not within this time is given up. */
const helloMs = 10_000;
/** A click is acknowledged after its commit, and at the latest after this time: Slack waits 3 s. */
const acknowledgeWithinMs = 2_500;
const firstRetryMs = 500;
const longestRetryMs = 30_000;
const closeMs = 1_000;

interface SocketParts {
  channelId: string;
  settings: SettingsOf<'slack'>;
  egress: Egress;
  log: Logger;
  onClick: (click: Click, onCommitted: () => void) => Promise<void>;
}

/** What the client hands over of an envelope of the type `interactive`. */
interface Envelope {
  ack: () => Promise<void>;
  body: unknown;
}

/**
 * One connection of Socket Mode, which is opened again whenever it ends. The client's own reconnecting is off: a response
 * 503 to it is a rejection that no one handles, and ends it.
 */
export class SlackSocket {
  readonly #parts: SocketParts;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #connected = false;

  constructor(parts: SocketParts) {
    this.#parts = parts;
    this.#running = this.#run();
  }

  get connected(): boolean {
    return this.#connected;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { channelId, log } = this.#parts;
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#connect();
        // Slack ends connections regularly.
        failures = 0;
      } catch (error) {
        failures++;
        const { message } = slackFailureOf(error);
        log.warn({ channel_id: channelId, failures, error: message }, 'the socket of Slack cannot be used');
      }
      if (signal.aborted) return;
      const wait = failures === 0 ? 0 : backOff(failures, firstRetryMs, longestRetryMs);
      await sleep(wait * (0.8 + 0.4 * Math.random()), undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Resolves when a connection that was greeted has ended; rejects if it was not. */
  async #connect(): Promise<void> {
    const { settings, egress } = this.#parts;
    const { signal } = this.#stop;
    const own = egress.ownConnections();
    const { SocketModeClient } = await import('@slack/socket-mode');
    const client = new SocketModeClient({
      appToken: settings.app_token!,
      autoReconnectEnabled: false,
      logger: silentSlackLogger,
      clientOptions: clientOptions(egress, settings),
      dispatcher: own.dispatcher,
    });
    const disconnected = new Promise<void>((resolve) => client.once('disconnected', () => resolve()));
    const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort').then(() => {});
    client.on('interactive', (envelope: Envelope) => void this.#receive(envelope));
    try {
      const started = client.start();
      started.catch(() => {});
      const greeted = await withTimeout(
        Promise.race([started.then(() => true), stopped.then(() => false)]),
        helloMs,
        () => new Error('no greeting'),
      );
      if (!greeted) return;
      this.#connected = true;
      await Promise.race([disconnected, stopped]);
    } finally {
      this.#connected = false;
      const closed = client.disconnect().catch(() => {});
      await Promise.race([closed, sleep(closeMs, undefined, { ref: false })]);
      client.removeAllListeners();
      own.close();
    }
  }

  async #receive({ ack, body }: Envelope): Promise<void> {
    const { channelId, log, onClick } = this.#parts;
    const acknowledge = () => ack().catch(() => {});
    const click = clickOf(body);
    if (click === null) return acknowledge();
    const { promise: committed, resolve } = Promise.withResolvers<void>();
    const handled = onClick(click, resolve).then(
      () => true,
      (error) => {
        log.error({ channel_id: channelId, error: messageOf(error) }, 'a click in Slack was not handled');
        return false;
      },
    );
    const late = sleep(acknowledgeWithinMs, true, { ref: false });
    // Without an acknowledgement Slack shows who clicked that it did not work.
    if (await Promise.race([committed.then(() => true), handled, late])) await acknowledge();
  }
}
