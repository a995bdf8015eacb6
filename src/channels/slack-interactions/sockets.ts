import type { Services } from '../../feature.ts';
import { sha256 } from '../../lib/crypto.ts';
import { Loop, type LoopPass } from '../../lib/loop.ts';
import { isAmongOldest } from '../../replicas/index.ts';
import { channelsChanged } from '../channels.ts';
import type { ChannelSettingsStore, SettingsOf } from '../settings.ts';
import { type ChannelRow, findChannel, listEnabledSlackChannels } from '../store.ts';
import type { Click } from './click.ts';
import { SlackSocket } from './socket.ts';

/** Slack gives an app ten connections. So many replicas have one each: others may run beside them in a roll-out. */
const mostReplicas = 4;
const everyMs = 3_000;
/** The pause while no channel has an app token: a notification says that one has. */
const idleEveryMs = 30_000;

interface Parts extends Pick<Services, 'db' | 'log' | 'egress'> {
  store: ChannelSettingsStore;
  replicaId: () => string;
  handle: (row: ChannelRow, click: Click, onCommitted: () => void) => Promise<void>;
}

/** Keeps a connection of Socket Mode for each channel that has an app token, on the replicas that live longest. */
export class SlackSockets {
  readonly #parts: Parts;
  readonly #loop: Loop;
  /** By the channel and its settings: other settings are another connection. */
  readonly #sockets = new Map<string, SlackSocket>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#loop = new Loop({ name: 'sockets of Slack', log: parts.log, tick: () => this.#tick() });
  }

  listen(): void {
    this.#parts.db.listen(channelsChanged, () => this.#loop.wake());
  }

  start(): void {
    this.#loop.start();
  }

  pass(): LoopPass {
    return this.#loop.pass();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await Promise.all([...this.#sockets.values()].map((socket) => socket.stop()));
  }

  async #tick(): Promise<number> {
    const { db, store, replicaId } = this.#parts;
    const rows = await db.run(listEnabledSlackChannels);
    const all = new Map(
      rows.flatMap((row) => {
        const settings = store.open(row) as SettingsOf<'slack'>;
        const { app_token, api_url } = settings;
        return app_token === undefined
          ? []
          : [[`${row.id} ${sha256(`${api_url} ${app_token}`)}`, { row, settings }]];
      }),
    );
    const isOne =
      all.size > 0 &&
      (await db.run((executor) => isAmongOldest(executor, replicaId(), 'delivery', mostReplicas)));
    const wanted = isOne ? all : new Map<string, never>();
    const gone = [...this.#sockets].filter(([key]) => !wanted.has(key));
    for (const [key, socket] of gone) {
      this.#sockets.delete(key);
      await socket.stop();
    }
    for (const [key, { row, settings }] of wanted) {
      if (!this.#sockets.has(key)) this.#sockets.set(key, this.#open(row.id, settings));
    }
    return all.size > 0 ? everyMs : idleEveryMs;
  }

  #open(channelId: string, settings: SettingsOf<'slack'>): SlackSocket {
    const { db, log, egress, handle } = this.#parts;
    return new SlackSocket({
      channelId,
      settings,
      egress,
      log,
      onClick: async (click, onCommitted) => {
        // As it is now: it may have been edited since the connection was opened.
        const row = await db.run((executor) => findChannel(executor, channelId));
        if (row?.enabled) await handle(row, click, onCommitted);
      },
    });
  }
}
