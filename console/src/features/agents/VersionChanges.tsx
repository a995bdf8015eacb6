import { useOperation } from '../../api/index.ts';
import type { PublicAgent } from '../../api/types.gen.ts';
import { versions as words } from '../../text/en/versions.ts';
import { DiffView, FieldRow, Loaded, type Option, Section, Select } from '../../ui/index.ts';
import css from './fields.module.css';

const shown = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'string'
      ? value
      : JSON.stringify(value, null, 2);

/** The differences between two versions of an agent, next to each other. */
export const VersionChanges = ({
  agent,
  from,
  to,
  onChange,
}: {
  agent: PublicAgent;
  from: string;
  to: string;
  onChange: (chosen: { from?: string; to?: string }) => void;
}) => {
  const got = useOperation(
    'getAgentVersion',
    { agent_id: agent.id, version: to },
    { query: { compare_to: from }, keepPrevious: true },
  );
  const numbers = Array.from({ length: agent.latest_version }, (_, i) => agent.latest_version - i);
  const options: Option[] = [
    { value: 'draft', label: words.draft },
    { value: 'published', label: words.states.published },
    ...numbers.map((number) => ({ value: String(number), label: words.versionOf(number) })),
  ];
  return (
    <Section title={words.changes}>
      <FieldRow>
        <Select
          label={words.from}
          value={from}
          options={options}
          onChange={(value) => value && onChange({ from: value })}
        />
        <Select
          label={words.to}
          value={to}
          options={options}
          onChange={(value) => value && onChange({ to: value })}
        />
      </FieldRow>
      <Loaded got={got} operation="getAgentVersion">
        {({ changes = [] }) =>
          changes.length === 0 ? (
            <p>{words.noChanges}</p>
          ) : (
            <div className={css.apart}>
              <DiffView
                theirs={words.from}
                mine={words.to}
                differences={changes.map(({ path, from: before, to: after }) => ({
                  label: path,
                  theirs: shown(before),
                  mine: shown(after),
                  byLine: path === 'instructions',
                }))}
              />
            </div>
          )
        }
      </Loaded>
    </Section>
  );
};
