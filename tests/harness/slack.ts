import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type WebSocket, WebSocketServer } from 'ws';
import { listen } from './listen.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

export interface SlackUser {
  id: string;
  team_id: string;
  deleted?: boolean;
  is_bot?: boolean;
  is_stranger?: boolean;
  is_email_confirmed?: boolean;
  profile: { email?: string };
}

export interface SlackMessage {
  channel: string;
  ts: string;
  text: string;
  blocks: Json[];
  /** How often it was edited. */
  edits: number;
}

export interface FakeSlack extends AsyncDisposable {
  url: string;
  /** Those that are not deleted, in the order in which they were posted. */
  messages: SlackMessage[];
  ephemerals: { channel: string; user: string; text: string; blocks: Json[] }[];
  users: Map<string, SlackUser>;
  calls: string[];
  /** Responds to a method with this from now on: a status with headers, an error of Slack, or nothing at all. */
  fail(
    method: string,
    how: { status: number; headers?: Record<string, string> } | { error: string } | 'hang' | null,
  ): void;
  /** What happens to each request from now on: see {@link Mishap}. */
  disturb(mishap: () => Mishap): void;
  /** The sockets that are open. */
  sockets: Set<WebSocket>;
  /** The payload of a click on the button `action` of a message. */
  payload(message: Pick<SlackMessage, 'channel' | 'ts' | 'blocks'>, action: string, user: string): Json;
  /** Sends a payload to one of the sockets; resolves when it is acknowledged, or to false after `withinMs`. */
  deliver(payload: Json, withinMs?: number): Promise<boolean>;
}

/** A network between the platform and Slack: it is slow, loses requests, or loses responses to what was done. */
export interface Mishap {
  delayMs: number;
  lost: 'request' | 'response' | null;
}

export const slackTokens = { bot_token: 'xoxb-bot-token', app_token: 'xapp-app-token' };

const botScopes = 'chat:write,im:write,users:read,users:read.email';

/** What Slack refuses in blocks (its reference of Block Kit); null if nothing. */
const faultOf = (blocks: Json[]): string | null => {
  const isPlain = (text: Json, most: number) =>
    text?.type === 'plain_text' &&
    typeof text.text === 'string' &&
    text.text.length > 0 &&
    text.text.length <= most;
  if (!Array.isArray(blocks) || blocks.length > 50) return 'too many blocks';
  for (const block of blocks) {
    switch (block.type) {
      case 'header':
        if (!isPlain(block.text, 150)) return 'header';
        break;
      case 'section':
        if (block.text === undefined && block.fields === undefined) return 'empty section';
        if (block.text !== undefined && !isPlain(block.text, 3_000)) return 'section text';
        if (block.fields !== undefined) {
          if (block.fields.length < 1 || block.fields.length > 10) return 'fields';
          if (!block.fields.every((field: Json) => isPlain(field, 2_000))) return 'field';
        }
        break;
      case 'rich_text':
        for (const element of block.elements) {
          if (element.type !== 'rich_text_preformatted') return 'rich text';
          for (const one of element.elements) {
            if (one.type !== 'text' || typeof one.text !== 'string' || one.text === '')
              return 'rich text element';
          }
        }
        break;
      case 'actions': {
        if (block.elements.length < 1 || block.elements.length > 25) return 'actions';
        const ids = block.elements.map(({ action_id }: Json) => action_id);
        if (new Set(ids).size !== ids.length) return 'action ids';
        for (const button of block.elements) {
          if (button.type !== 'button' || !isPlain(button.text, 75)) return 'button';
          if (button.value !== undefined && button.value.length > 2_000) return 'value';
          if (button.style !== undefined && !['primary', 'danger'].includes(button.style)) return 'style';
        }
        break;
      }
      default:
        return `type ${block.type}`;
    }
  }
  return null;
};

/** Slack's Web API and Socket Mode on 127.0.0.1, as strict as the real ones in what the platform uses. */
export const startSlack = async (): Promise<FakeSlack> => {
  const messages: SlackMessage[] = [];
  const ephemerals: FakeSlack['ephemerals'] = [];
  const users = new Map<string, SlackUser>();
  const calls: string[] = [];
  const failures = new Map<string, Json>();
  const sockets = new Set<WebSocket>();
  const waiting = new Map<string, () => void>();
  const tickets = new Set<string>();
  /** Connections that are never upgraded. */
  const silent = new Set<{ destroy(): unknown }>();
  let n = 0;
  let disturbed: () => Mishap = () => ({ delayMs: 0, lost: null });

  const method = (name: string, token: string, args: Record<string, string>): Json => {
    const needed = name === 'apps.connections.open' ? slackTokens.app_token : slackTokens.bot_token;
    if (token !== needed) return { ok: false, error: 'invalid_auth' };
    const blocks = args.blocks === undefined ? [] : JSON.parse(args.blocks);
    const fault = faultOf(blocks);
    if (fault !== null)
      return { ok: false, error: 'invalid_blocks', response_metadata: { messages: [fault] } };
    switch (name) {
      case 'auth.test':
        return { ok: true, team_id: 'T1', team: 'Acme', user_id: 'UBOT', bot_id: 'B1' };
      case 'users.info': {
        const user = users.get(args.user!);
        return user ? { ok: true, user } : { ok: false, error: 'user_not_found' };
      }
      case 'users.lookupByEmail': {
        const user = [...users.values()].find(({ profile }) => profile.email === args.email);
        return user ? { ok: true, user } : { ok: false, error: 'users_not_found' };
      }
      case 'conversations.open':
        return users.has(args.users!)
          ? { ok: true, channel: { id: `D${args.users}` } }
          : { ok: false, error: 'user_not_found' };
      case 'chat.postMessage': {
        if (!/^[CGD]/.test(args.channel ?? '')) return { ok: false, error: 'channel_not_found' };
        if (!args.text) return { ok: false, error: 'no_text' };
        const ts = `1700000000.${String(++n).padStart(6, '0')}`;
        messages.push({ channel: args.channel!, ts, text: args.text, blocks, edits: 0 });
        return { ok: true, channel: args.channel, ts };
      }
      case 'chat.update': {
        const message = messages.find(({ channel, ts }) => channel === args.channel && ts === args.ts);
        if (!message) return { ok: false, error: 'message_not_found' };
        Object.assign(message, { text: args.text, blocks, edits: message.edits + 1 });
        return { ok: true, channel: args.channel, ts: args.ts };
      }
      case 'chat.postEphemeral':
        ephemerals.push({ channel: args.channel!, user: args.user!, text: args.text!, blocks });
        return { ok: true, message_ts: '1.2' };
      case 'apps.connections.open': {
        const ticket = randomUUID();
        tickets.add(ticket);
        return { ok: true, url: `ws://127.0.0.1:${port}/link?ticket=${ticket}` };
      }
      default:
        return { ok: false, error: 'unknown_method' };
    }
  };

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const name = new URL(request.url!, 'http://x').pathname.replace('/api/', '');
    calls.push(name);
    const { delayMs, lost } = disturbed();
    if (delayMs > 0) await sleep(delayMs);
    if (lost === 'request') return void request.destroy();
    const how = failures.get(name);
    if (how === 'hang') return;
    if (how?.status !== undefined) return void response.writeHead(how.status, how.headers).end('no');
    const form = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    const args = form ? Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString())) : {};
    const body = how ? { ok: false, ...how } : method(name, token, args);
    if (lost === 'response') return void request.destroy();
    response.writeHead(200, { 'content-type': 'application/json', 'x-oauth-scopes': botScopes });
    response.end(JSON.stringify(body));
  });
  const sockeye = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request: IncomingMessage, socket, head) => {
    const url = new URL(request.url!, 'http://x');
    // A ticket is for one connection.
    if (url.pathname !== '/link' || !tickets.delete(url.searchParams.get('ticket') ?? '')) {
      socket.end('HTTP/1.1 408 Request Timeout\r\n\r\n');
      return;
    }
    if (failures.get('socket') === 'hang') return void silent.add(socket);
    sockeye.handleUpgrade(request, socket, head, (ws) => {
      sockets.add(ws);
      ws.on('close', () => sockets.delete(ws));
      ws.on('error', () => {});
      ws.on('message', (data) => waiting.get(JSON.parse(String(data)).envelope_id)?.());
      ws.send(JSON.stringify({ type: 'hello', num_connections: sockets.size }));
    });
  });
  const { origin, port, close } = await listen(server);

  return {
    url: `${origin}/api/`,
    messages,
    ephemerals,
    users,
    calls,
    sockets,
    disturb: (mishap) => {
      disturbed = mishap;
    },
    fail: (name, how) => void (how === null ? failures.delete(name) : failures.set(name, how)),
    payload: ({ channel, ts, blocks }, action, user) => {
      const elements = blocks.flatMap((block: Json) => (block.type === 'actions' ? block.elements : []));
      const button = elements.find(({ action_id }: Json) => action_id === action);
      if (!button) throw new Error(`there is no button ${action}`);
      return {
        type: 'block_actions',
        team: { id: 'T1' },
        user: { id: user, team_id: 'T1' },
        api_app_id: 'A1',
        container: { type: 'message', channel_id: channel, message_ts: ts },
        channel: { id: channel },
        response_url: 'http://169.254.169.254/',
        actions: [{ type: 'button', ...button, block_id: 'b', action_ts: '1' }],
      };
    },
    deliver: async (payload, withinMs = 5_000) => {
      const all = [...sockets];
      const socket = all[Math.floor(Math.random() * all.length)]!;
      const envelope_id = randomUUID();
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting.set(envelope_id, () => resolve(true));
      const timer = setTimeout(resolve, withinMs, false);
      socket.send(
        JSON.stringify({ type: 'interactive', envelope_id, accepts_response_payload: true, payload }),
      );
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(envelope_id);
      });
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.terminate();
      for (const socket of silent) socket.destroy();
      await close();
    },
  };
};

/** The request of Slack that brings a payload over HTTP. */
export const slackRequest = (payload: Json, secret: string, at = Date.now()) => {
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const timestamp = String(Math.floor(at / 1_000));
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${signature}`,
    },
    body,
  };
};
