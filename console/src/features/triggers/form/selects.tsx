import { type ComponentProps, useState } from 'react';
import { type LoadState, useOperation } from '../../../api/index.ts';
import { AgentSelect } from '../../../resource/index.ts';
import { to } from '../../../routing/to.ts';
import { common } from '../../../text/en/common.ts';
import { triggerForm as words } from '../../../text/en/trigger-form.ts';
import { Link, type Option, Select, Words } from '../../../ui/index.ts';

type Props = Omit<ComponentProps<typeof Select>, 'options' | 'onSearch' | 'nothing'>;

export const OwnerSelect = (props: Props) => (
  <AgentSelect {...props} mode="worker" none={words.noAgentMatches} />
);

/** The agent whose Work Items are watched; all of them if that is allowed. */
export const WatchedAgentSelect = ({ required = false, ...props }: Props) => (
  <AgentSelect
    {...props}
    mode="worker"
    none={words.noAgentMatches}
    required={required}
    clearable={!required}
    {...(!required && { placeholder: words.anyAgent })}
  />
);

const nothingIn = (
  { data, loading }: LoadState<{ data: readonly unknown[] }>,
  none: string,
  noMatch: string,
) => (loading ? common.loading : data?.data.length === 0 ? none : noMatch);

/** Options with the chosen one, also if it is not among those that were read. */
const withChosen = (options: Option[], chosen: string | null): Option[] =>
  chosen === null || options.some(({ value }) => value === chosen)
    ? options
    : [...options, { value: chosen, label: chosen.slice(0, 8) }];

export const ConnectionSelect = ({ kind, ...props }: Props & { kind: 'nats' | 'kafka' }) => {
  const got = useOperation('listEventConnections', {}, { query: { kind, limit: 100 } });
  const options = (got.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const first = got.data?.data.length === 0 && (
    <Words
      text={words.newConnection}
      link={<Link href={to('/event-connections/new')}>{words.newConnectionLink}</Link>}
    />
  );
  return (
    <Select
      {...props}
      hint={first || props.hint}
      options={got.data ? withChosen(options, props.value) : options}
      nothing={nothingIn(got, words.noConnection, words.noConnectionMatches)}
    />
  );
};

/** A trigger of any agent. The server searches. */
export const TriggerSelect = (props: Props) => {
  const [typed, setTyped] = useState('');
  const [known, setKnown] = useState<Option | null>(null);
  // The name of the chosen one is what the field shows, and no search.
  const q = typed === known?.label ? '' : typed.trim();
  const got = useOperation('listAllTriggers', {}, { query: { q, limit: 50 }, keepPrevious: true });
  const options = (got.data?.data ?? []).map(({ id, name, agent }) => ({
    value: id,
    label: name,
    note: agent.name,
  }));
  const chosen = options.find(({ value }) => value === props.value);
  if (chosen && chosen.value !== known?.value) setKnown(chosen);
  const others = known && known.value === props.value && !chosen ? [known] : [];
  return (
    <Select
      {...props}
      options={got.data ? withChosen([...options, ...others], props.value) : []}
      onSearch={setTyped}
      nothing={nothingIn(got, words.noTriggerMatches, words.noTriggerMatches)}
    />
  );
};
