import type { ListedTrigger } from '../../../api/types.gen.ts';
import { EventTag } from '../../../resource/EventTag.tsx';
import { triggers as words } from '../../../text/en/triggers.ts';
import { Time } from '../../../time/index.ts';
import { type Column, Emphasis, Muted, TwoLines, Words } from '../../../ui/index.ts';
import { placeOf } from '../shared/place.ts';
import css from './list.module.css';

const Reason = ({ text }: { text: string }) => (
  <span className={css.reason} title={text}>
    {text}
  </span>
);

/** How a broker is read, or what is watched. */
const Working = ({ trigger: { kind, reading, next_due_at } }: { trigger: ListedTrigger }) => {
  if (reading?.state === 'failing') {
    return (
      <>
        <Emphasis tone="late">{words.failing}</Emphasis>
        {reading.last_error && <Reason text={reading.last_error} />}
      </>
    );
  }
  if (kind === 'nats' || kind === 'kafka') {
    const unread = reading?.lag ? words.unread(reading.lag) : undefined;
    return <TwoLines below={unread}>{reading?.state === 'ok' ? words.reads : words.connecting}</TwoLines>;
  }
  if (kind === 'webhook') return words.receives;
  return (
    <TwoLines
      below={next_due_at && <Words text={words.nextDue} at={<Time at={next_due_at} form="relative" />} />}
    >
      {words.watches}
    </TwoLines>
  );
};

const State = ({ trigger }: { trigger: ListedTrigger }) => {
  const { enabled, blocked_reason } = trigger;
  if (!enabled) return <Muted>{words.states.paused}</Muted>;
  if (blocked_reason !== null) {
    return (
      <>
        <Emphasis tone="missing">{words.states.blocked}</Emphasis>
        <Reason text={blocked_reason} />
      </>
    );
  }
  return <Working trigger={trigger} />;
};

const Last = ({ last }: Pick<ListedTrigger, 'last'>) => {
  if (!last) return <Muted third>{words.noEvent}</Muted>;
  const { outcome, reason, last_delivery_at } = last;
  return (
    <>
      <EventTag outcome={outcome} />
      <span className={css.below}>
        <Time at={last_delivery_at} form="relative" />
      </span>
      {reason && <Reason text={reason} />}
    </>
  );
};

type Counted = keyof typeof words.counted;
const counted = Object.keys(words.counted) as Counted[];

const Day = ({ counts }: { counts: ListedTrigger['counts_24h'] }) => {
  const parts = counted.flatMap((name) => {
    const count = counts[name] ?? 0;
    return count > 0 ? [words.counted[name](count)] : [];
  });
  const [first, ...others] = parts;
  if (first === undefined) return <Muted third>{words.noneInDay}</Muted>;
  return <TwoLines below={others.length > 0 && words.joined(others)}>{first}</TwoLines>;
};

export const columns: readonly Column<ListedTrigger>[] = [
  {
    key: 'name',
    title: words.columns.name,
    width: '25%',
    cell: ({ name, agent }) => <TwoLines below={agent.name}>{name}</TwoLines>,
  },
  {
    key: 'kind',
    title: words.columns.kind,
    width: '15%',
    phone: 'hide',
    cell: (trigger) => <TwoLines below={placeOf(trigger)}>{words.kinds[trigger.kind]}</TwoLines>,
  },
  {
    key: 'state',
    title: words.columns.state,
    width: '18%',
    cell: (trigger) => <State trigger={trigger} />,
  },
  {
    key: 'last',
    title: words.columns.last,
    phone: 'below',
    cell: ({ last }) => <Last last={last} />,
  },
  {
    key: 'day',
    title: words.columns.day,
    width: '17%',
    phone: 'below',
    cell: ({ counts_24h }) => <Day counts={counts_24h} />,
  },
];
