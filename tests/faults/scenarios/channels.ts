import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { int, type Random, seeded } from '../../../packages/cron/tests/random.ts';
import { sha256 } from '../../../src/lib/crypto.ts';
import { newId } from '../../../src/lib/ids.ts';
import { type Client, client } from '../../harness/http.ts';
import { type FakeSlack, type Mishap, slackRequest, slackTokens, startSlack } from '../../harness/slack.ts';
import { startSmtp, type TestSmtp } from '../../harness/smtp.ts';
import { until } from '../../harness/wait.ts';
import { Fixture, must } from './fixture.ts';

export interface ChannelKillsOptions {
  /** A third of them in each way: Slack's sockets, Slack over HTTP, and e-mail with the page. */
  reviews: number;
  /** SIGKILLs of replicas while people decide. */
  kills: number;
  /** The longest that a request to Slack, or a click, is under way. */
  delayMs: number;
  seed: number;
}

export interface ChannelKillsReport {
  decided: number;
  kills: number;
  clicks: number;
  /** GET and HEAD requests to links. */
  looks: number;
  /** Messages in Slack and mails, with copies that no one knows of. */
  copies: number;
  problems: string[];
}

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;
type Decision = 'approve' | 'deny';

const replicas = 3;
const secret = 'signing-secret';

/** Someone who may decide: known here, and by Slack under the same e-mail. */
interface Person {
  id: string;
  slackId: string;
  cookie: string;
}

/** What people asked for, by the review: who decides otherwise decided what no one asked for. */
type Asked = Map<string, Set<string>>;

const askedKey = (person: Person, decision: Decision): string => `${person.id} ${decision}`;

const newPeople = async (at: Fixture, accounts: readonly FakeSlack[]): Promise<Person[]> => {
  const people = Array.from({ length: 6 }, (_, n) => ({
    id: newId(),
    slackId: `U${n}`,
    cookie: randomBytes(32).toString('base64url'),
  }));
  for (const { id, slackId, cookie } of people) {
    const email = `${slackId.toLowerCase()}@example.com`;
    await at.inspect(async (rows) => {
      await rows(`insert into users (id, issuer, subject, name, role, email, email_verified, last_confirmed_at)
        values ('${id}', 'https://id.example', '${id}', 'Person ${slackId}', 'builder', '${email}', true, platform_now())`);
      await rows(`insert into sessions (id, value_hash, principal_id, method, user_id)
        values ('${newId()}', '${sha256(cookie)}', '${id}', 'oidc', '${id}')`);
    });
    for (const { users } of accounts)
      users.set(slackId, { id: slackId, team_id: 'T1', is_email_confirmed: true, profile: { email } });
  }
  for (const { users } of accounts) {
    // No one here, another company's, and one whose address Slack has not confirmed.
    users.set('X0', {
      id: 'X0',
      team_id: 'T1',
      is_email_confirmed: true,
      profile: { email: 'x@example.com' },
    });
    users.set('X1', {
      id: 'X1',
      team_id: 'T2',
      is_email_confirmed: true,
      profile: { email: 'u1@example.com' },
    });
    users.set('X2', {
      id: 'X2',
      team_id: 'T1',
      is_email_confirmed: false,
      profile: { email: 'u2@example.com' },
    });
  }
  return people;
};

/** An agent whose Work Items wait for a decision, sent to one channel. */
const newWay = async (
  api: Client,
  name: string,
  fields: object,
): Promise<{ agentId: string; channel: Json }> => {
  const channel: Json = await must(api.post('/channels', { name, ...fields }));
  const agent: Json = await must(api.post('/agents', { name, mode: 'worker', execution: 'external' }));
  await must(
    api.post('/routes', {
      name,
      for: 'reviews',
      match: { agent_ids: [agent.id] },
      steps: [{ channel_id: channel.id, to: 'channel' }],
    }),
  );
  return { agentId: agent.id, channel };
};

/** Lets `count` Work Items of each agent wait for a decision. */
const open = async (at: Fixture, agentIds: readonly string[], count: number): Promise<void> => {
  for (const agent_id of agentIds) {
    for (let n = 0; n < count; n++) await must(at.api(n % replicas).post('/work-items', { agent_id }));
    for (let left = count; left > 0; ) {
      const { records }: Json = await must(
        at.api().post('/work-items/claim', { agent_ids: [agent_id], limit: Math.min(left, 10) }),
      );
      for (const { work_item, lease_token } of records)
        await must(
          at.api().post(`/work-items/${work_item.id}/finish`, {
            lease_token,
            outcome: 'NEEDS_REVIEW',
            review: {
              reason: 'Please look.',
              approvals: [{ kind: 'tool_call', tool_name: 'bank__pay', arguments: { left } }],
            },
          }),
        );
      left -= records.length;
    }
  }
};

const reviewIn = (text: string): string | null => /\/approve\/([0-9a-f-]{36})/.exec(text)?.[1] ?? null;
const buttonsIn = ({ blocks }: Json): boolean => JSON.stringify(blocks).includes('"approve"');

/** Those who click and open links while replicas die. */
class Crowd {
  clicks = 0;
  looks = 0;
  readonly asked: Asked = new Map();
  readonly problems: string[] = [];
  readonly #at: Fixture;
  readonly #people: readonly Person[];
  readonly #random: Random;
  readonly #delayMs: number;
  readonly #begun = new Set<unknown>();
  readonly #busy = new Set<Promise<void>>();

  constructor(at: Fixture, people: readonly Person[], random: Random, delayMs: number) {
    this.#at = at;
    this.#people = people;
    this.#random = random;
    this.#delayMs = delayMs;
  }

  #chance(share: number): boolean {
    return int(this.#random, 1, 1_000) <= share * 1_000;
  }

  #port(): number {
    return this.#at.replicas[int(this.#random, 0, replicas - 1)]!.port;
  }

  #ask(review: string, person: Person, decision: Decision): void {
    const asked = this.asked.get(review) ?? new Set();
    this.asked.set(review, asked.add(askedKey(person, decision)));
  }

  #wish(): { person: Person; decision: Decision } {
    const person = this.#people[int(this.#random, 0, this.#people.length - 1)]!;
    return { person, decision: this.#chance(0.5) ? 'approve' : 'deny' };
  }

  /** Sends one click, which may be lost, late or doubled. Resolves when it was delivered. */
  async #click(send: () => Promise<boolean>): Promise<void> {
    this.clicks += 1;
    if (this.#chance(0.1)) return;
    if (this.#chance(0.1)) await sleep(int(this.#random, 0, this.#delayMs));
    const sent = [send()];
    if (this.#chance(0.1)) sent.push(send());
    await Promise.allSettled(sent);
  }

  /** Begins to decide what a message or mail asks, once; nothing for one that was seen before. */
  #begin(what: unknown, decide: () => Promise<void>): void {
    if (this.#begun.has(what)) return;
    this.#begun.add(what);
    const work = decide().catch((error: unknown) => void this.problems.push(String(error)));
    this.#busy.add(work);
    void work.finally(() => this.#busy.delete(work));
  }

  /** People click on what Slack shows, until it shows an outcome. `deliver` brings a payload to the platform. */
  watchSlack(slack: FakeSlack, deliver: (payload: Json) => Promise<boolean>): void {
    for (const message of slack.messages) {
      const review = reviewIn(JSON.stringify(message.blocks));
      if (review === null || !buttonsIn(message)) continue;
      this.#begin(message, async () => {
        const { person, decision } = this.#wish();
        const other = this.#wish();
        this.#ask(review, person, decision);
        const before = { ...message };
        const click = (action: Decision, user: string) =>
          this.#click(() => deliver(slack.payload(before, action, user)));
        const stranger = `X${int(this.#random, 0, 2)}`;
        const clicks = [click('approve', stranger), click(decision, person.slackId)];
        if (this.#chance(0.3)) {
          this.#ask(review, other.person, other.decision);
          clicks.push(click(other.decision, other.person.slackId));
        }
        await Promise.all(clicks);
        await until(
          async () => {
            await sleep(1_000 + int(this.#random, 0, 1_000));
            if (!buttonsIn(message)) return true;
            await click(decision, person.slackId);
            return false;
          },
          240_000,
          1,
        );
      });
    }
  }

  /** People open the links of mails, and decide on the page. */
  watchMails({ mails }: TestSmtp): void {
    for (const received of mails) {
      const review = reviewIn(received.raw.replaceAll('=\r\n', ''));
      if (review === null) this.problems.push(`a mail without a link: ${received.mail.subject}`);
      if (review === null || received.mail.inReplyTo !== undefined) continue;
      this.#begin(received, async () => {
        const { person, decision } = this.#wish();
        await this.#look(review, person);
        this.#ask(review, person, decision);
        const body = { decisions: [] as Json[] };
        const headers = {
          cookie: `ap_session=${person.cookie}`,
          'sec-fetch-site': 'same-origin',
          'idempotency-key': newId(),
        };
        await until(
          async () => {
            const app = client(`http://127.0.0.1:${this.#port()}/api/v2`);
            const shown = await app.get(`/reviews/${review}`, { headers: { cookie: headers.cookie } });
            if (shown.status !== 200) return false;
            body.decisions = shown.body.approvals.map(({ approval_id }: Json) => ({ approval_id, decision }));
            const { status } = await app.post(`/reviews/${review}/decide`, body, { headers });
            return status === 200 || status === 412;
          },
          240_000,
          200,
        );
      });
    }
  }

  /** What mail scanners and previews do with links, with and without the session of a person. */
  async #look(review: string, person: Person): Promise<void> {
    const paths = [
      `/approve/${review}`,
      `/app/api/reviews/${review}/decide`,
      `/api/v2/reviews/${review}/decide`,
    ];
    for (const path of paths)
      for (const method of ['GET', 'HEAD']) {
        const query = '?decision=approve&decisions[0][decision]=approve';
        await fetch(`http://127.0.0.1:${this.#port()}${path}${query}`, {
          method,
          redirect: 'manual',
          headers: { cookie: `ap_session=${person.cookie}` },
        }).catch(() => null);
        this.looks += 1;
      }
  }

  async settle(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy);
  }
}

/** What is wrong at the end: each review was decided once, as a known person asked. */
const compare = async (at: Fixture, expected: number, { asked, problems }: Crowd): Promise<string[]> =>
  at.inspect(async (rows) => {
    const found = [...problems];
    const all = await rows<Json>(
      `select r.id, r.state, r.via, r.closed_by, r.approvals,
        (select count(*)::int from work_item_events e where e.work_item_id = r.work_item_id and e.action = 'continue') as events,
        (select count(*)::int from audits a where a.target_id = r.work_item_id::text and a.action = 'work_item.continue') as audits
       from reviews r`,
    );
    if (all.length !== expected) found.push(`${all.length} reviews of ${expected}`);
    for (const { id, state, via, closed_by, approvals, events, audits } of all) {
      if (state !== 'decided' || events !== 1 || audits !== 1)
        found.push(`${id} is ${state} with ${events} events and ${audits} audit entries`);
      const key = `${closed_by?.id} ${approvals[0].decision}`;
      if (!asked.get(id)?.has(key)) found.push(`${id} was decided as no one asked: ${key} via ${via}`);
    }
    return found;
  });

/**
 * Reviews that people decide in Slack and on the page while requests, responses and clicks are lost, late or doubled and
 * replicas are killed. Strangers click as well, and links are opened without deciding.
 */
export const runChannelKills = async ({
  reviews,
  kills,
  delayMs,
  seed,
}: ChannelKillsOptions): Promise<ChannelKillsReport> => {
  const random = seeded(seed);
  const each = Math.ceil(reviews / 3);
  await using socket = await startSlack();
  await using http = await startSlack();
  await using smtp = await startSmtp();
  await using at = await Fixture.open('postgres', replicas);
  await Promise.all(at.replicas.map((_, i) => at.start(i)));
  const people = await newPeople(at, [socket, http]);
  const api = at.api();
  const bySocket = await newWay(api, 'Slack by its socket', {
    kind: 'slack',
    ...slackTokens,
    api_url: socket.url,
    conversation: 'C1',
  });
  const byHttp = await newWay(api, 'Slack over HTTP', {
    kind: 'slack',
    bot_token: slackTokens.bot_token,
    signing_secret: secret,
    api_url: http.url,
    conversation: 'C2',
  });
  const byMail = await newWay(api, 'E-mail', {
    kind: 'email',
    smtp_url: `smtp://127.0.0.1:${smtp.port}`,
    tls: 'none',
    from: 'agents@example.com',
    recipients: ['night@example.com'],
  });
  await until(() => socket.sockets.size === replicas);

  const chance = (share: number): boolean => int(random, 1, 1_000) <= share * 1_000;
  const mishap = (): Mishap => ({
    delayMs: chance(0.1) ? int(random, 0, delayMs) : 0,
    lost: chance(0.1) ? 'request' : chance(0.1) ? 'response' : null,
  });
  for (const faulty of [socket, http, smtp]) faulty.disturb(mishap);

  const crowd = new Crowd(at, people, random, delayMs);
  const hook = new URL(byHttp.channel.interactions_url).pathname;
  const overHttp = async (payload: Json): Promise<boolean> => {
    const { port } = at.replicas[int(random, 0, replicas - 1)]!;
    const response = await fetch(`http://127.0.0.1:${port}${hook}`, {
      ...slackRequest(payload, secret),
      signal: AbortSignal.timeout(5_000),
    });
    return response.status === 200;
  };
  const overSocket = async (payload: Json): Promise<boolean> =>
    socket.sockets.size > 0 && socket.deliver(payload);
  await open(at, [bySocket.agentId, byHttp.agentId, byMail.agentId], each);

  const count = (state: string): Promise<number> =>
    at.inspect(async (rows) =>
      Number((await rows<Json>(`select count(*)::int as n from reviews where ${state}`))[0].n),
    );
  let killed = 0;
  const look = (): void => {
    crowd.watchSlack(socket, overSocket);
    crowd.watchSlack(http, overHttp);
    crowd.watchMails(smtp);
  };
  const watching = new AbortController();
  const watch = async (): Promise<void> => {
    while (!watching.signal.aborted) {
      look();
      await sleep(50);
    }
  };
  const watched = watch();
  for (let n = 1; n <= kills; n++) {
    await until(async () => (await count(`state <> 'open'`)) >= (3 * each * n) / (kills + 2), 240_000, 20);
    const victim = int(random, 0, replicas - 1);
    await at.kill(victim);
    killed += 1;
    await at.start(victim);
  }
  await until(async () => (await count(`state = 'open'`)) === 0, 240_000);
  // Copies that no one knows of are updated by a click; the others by themselves.
  for (const faulty of [socket, http, smtp]) faulty.disturb(() => ({ delayMs: 0, lost: null }));
  await until(async () => {
    const [{ n }] = await at.inspect((rows) =>
      rows<Json>(`select count(*)::int as n from channel_messages where state = 'pending'`),
    );
    return n === 0;
  }, 400_000);
  await crowd.settle();
  watching.abort();
  await watched;
  const problems = await compare(at, 3 * each, crowd);
  const unknown = [socket, http].flatMap(({ messages }) => messages.filter(buttonsIn));
  if (unknown.length > 0) problems.push(`${unknown.length} messages still have buttons`);
  const { clicks, looks } = crowd;
  const copies = socket.messages.length + http.messages.length + smtp.mails.length;
  return { decided: await count(`state = 'decided'`), kills: killed, clicks, looks, copies, problems };
};
