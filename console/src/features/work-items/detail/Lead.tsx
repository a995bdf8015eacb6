import type { ReactNode } from 'react';
import { toolOfReason } from '../../../messages/index.ts';
import { to } from '../../../routing/to.ts';
import { workItems as words } from '../../../text/en/work-items.ts';
import { duration } from '../../../text/index.ts';
import { Duration, Time } from '../../../time/index.ts';
import { Emphasis, Link, Words } from '../../../ui/index.ts';
import type { WorkItemDetail } from '../types.ts';

type Item = WorkItemDetail;

/** A text that someone else wrote, with an end. */
const ended = (text: string | undefined): string =>
  text && !/[.!?…]["”’)]?\s*$/.test(text) ? `${text}.` : (text ?? '');

const scheduleOf = ({ schedule, agent }: Item): ReactNode => {
  if (!schedule) return null;
  const name = schedule.name ?? words.deletedSchedule;
  return schedule.exists && agent.exists ? (
    <Link href={to('/agents/$agentId/schedules/$scheduleId', { agentId: agent.id, scheduleId: schedule.id })}>
      {name}
    </Link>
  ) : (
    name
  );
};

/** The last sentence: the source, and the number of the attempt. */
const Origin = ({ item }: { item: Item }) => {
  const { source, schedule, scheduled_for, lateness_ms, created_by_name, attempt_count, max_attempts } = item;
  const attempt = words.attemptOf(attempt_count, max_attempts);
  const by = created_by_name ?? words.someone;
  if (scheduled_for) {
    const late = lateness_ms !== null && lateness_ms >= 10_000 ? words.late(lateness_ms) : '';
    return (
      <Words
        text={words.fromSchedule}
        schedule={scheduleOf(item)}
        due={<Time at={scheduled_for} />}
        late={late}
        attempt={attempt}
      />
    );
  }
  if (schedule) return <Words text={words.byHand} schedule={scheduleOf(item)} by={by} attempt={attempt} />;
  return <Words text={source === 'person' ? words.fromPerson : words.fromApi} by={by} attempt={attempt} />;
};

/** The question to a person, and the tools that need approval if it does not name them. */
const Asked = ({ item }: { item: Item }) => {
  const said = item.review_reason ?? item.waiting?.question ?? null;
  const asked = toolOfReason(said) === null ? said : null;
  const tools = [
    ...new Set(
      item.pending_approvals.flatMap(({ kind, tool_name }) => (kind === 'input' ? [] : (tool_name ?? []))),
    ),
  ];
  const unsaid = tools.filter((tool) => !asked?.includes(tool));
  return (
    <>
      {asked && `${words.quoted(asked)} `}
      {unsaid.length > 0 && `${words.needsApproval(unsaid)} `}
    </>
  );
};

const Pending = ({ item }: { item: Item }) => {
  const { waiting, attempt_count } = item;
  if (waiting?.reason === 'start' && waiting.until) {
    return (
      <>
        <Emphasis>{words.pending}</Emphasis>{' '}
        <Words text={words.waitsForStart} at={<Time at={waiting.until} />} />{' '}
      </>
    );
  }
  if (waiting?.reason === 'budget' && waiting.until) {
    return (
      <>
        <Emphasis>{words.pending}</Emphasis>{' '}
        <Words text={words.waitsForBudget} at={<Time at={waiting.until} />} />{' '}
      </>
    );
  }
  if (waiting?.reason === 'retry' && waiting.until) {
    const at = <Time at={waiting.until} form="relative" />;
    return (
      <>
        <Emphasis>{words.pending}</Emphasis>{' '}
        <Words text={words.waitsForRetry} n={attempt_count + 1} at={at} />{' '}
        {item.error && `${ended(item.error.message)} `}
      </>
    );
  }
  const [head, ...rest] = (waiting?.text ?? words.pending).split(': ');
  const stuck = waiting?.reason === 'no_worker' || waiting?.reason === 'lost_worker';
  return (
    <>
      <Emphasis {...(stuck ? { tone: 'missing' as const } : {})}>
        {rest.length > 0 ? `${head}:` : head}
      </Emphasis>{' '}
      {rest.length > 0 && `${rest.join(': ')} `}
    </>
  );
};

/** The state in a sentence. */
const State = ({ item }: { item: Item }) => {
  const { status, waiting, finished_at, duration_ms, started_at, cancel_requested_at, error } = item;
  const at = finished_at && <Time at={finished_at} form="relative" />;
  switch (status) {
    case 'DRAFT':
      return (
        <>
          <Emphasis>{words.isDraft}</Emphasis> {words.isDraftMore}{' '}
        </>
      );
    case 'PENDING':
      return <Pending item={item} />;
    case 'EXECUTING':
      if (waiting) return <Pending item={item} />;
      return (
        <>
          <Emphasis>{words.executing}</Emphasis>{' '}
          {started_at && <Words text={words.executingFor} time={<Duration from={started_at} />} />}{' '}
          {cancel_requested_at && (
            <>
              <Words text={words.cancelAsked} at={<Time at={cancel_requested_at} form="relative" />} />{' '}
            </>
          )}
        </>
      );
    case 'NEEDS_REVIEW':
    case 'INDETERMINATE':
      return (
        <>
          <Emphasis tone="late">
            <Words
              text={status === 'INDETERMINATE' ? words.unknownSince : words.waitsSince}
              at={<Time at={waiting?.since ?? item.updated_at} />}
            />
          </Emphasis>{' '}
          <Asked item={item} />
        </>
      );
    case 'COMPLETED':
      return (
        <>
          <Emphasis tone="on-time">{words.completed}</Emphasis>{' '}
          <Words
            text={duration_ms === null ? words.completedByHand : words.completedAt}
            time={duration(duration_ms ?? 0)}
            at={at}
          />{' '}
        </>
      );
    case 'ERROR':
      return (
        <>
          <Emphasis tone="missing">{words.failed(item.attempt_count)}</Emphasis> {ended(error?.message)}{' '}
        </>
      );
    default:
      return (
        <>
          <Emphasis>{words.cancelled}</Emphasis> <Words text={words.cancelledAt} at={at} />{' '}
        </>
      );
  }
};

export const Lead = ({ item }: { item: Item }) => (
  <p>
    <State item={item} />
    <Origin item={item} />
  </p>
);
