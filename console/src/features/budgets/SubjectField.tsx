import { useState } from 'react';
import { type FieldProps, useOperation } from '../../api/index.ts';
import type { PublicBudget } from '../../api/types.gen.ts';
import { useAgents, useLlmOptions } from '../../resource/index.ts';
import { budgets as words } from '../../text/en/budgets.ts';
import { common } from '../../text/en/common.ts';
import { type Option, Select } from '../../ui/index.ts';

type Kind = PublicBudget['scope']['kind'];

interface Found {
  options: readonly Option[];
  loading: boolean;
}

/** The subjects of a kind whose names have `q`. The server searches. */
const useSubjects = (kind: Kind, q: string): Found => {
  const list = (of: Kind) => ({ enabled: kind === of, keepPrevious: true, staleTime: 30_000 });
  const agents = useAgents({ q, enabled: kind === 'agent' });
  const schedules = useOperation('listAllSchedules', {}, { query: { q, limit: 50 }, ...list('schedule') });
  const triggers = useOperation('listAllTriggers', {}, { query: { q, limit: 50 }, ...list('trigger') });
  const people = useOperation('listUsers', {}, { query: { limit: 200 }, ...list('person') });
  const keys = useOperation(
    'listNamedApiKeys',
    {},
    { query: { q, kind: 'service_account', status: 'active', limit: 50 }, ...list('api_key') },
  );
  const llms = useLlmOptions(kind === 'llm_configuration');
  const from = <R,>(
    { data, loading }: { data?: { data: R[] } | undefined; loading: boolean },
    optionOf: (row: R) => Option,
  ): Found => ({ options: (data?.data ?? []).map(optionOf), loading });
  /** These lists come whole. */
  const matching = ({ options, loading }: Found): Found => ({
    options: options.filter(({ label }) => label.toLowerCase().includes(q.toLowerCase())),
    loading,
  });
  switch (kind) {
    case 'agent':
      return from(agents, ({ id, name }) => ({ value: id, label: name }));
    case 'schedule':
      return from(schedules, ({ id, work_item_name, agent, description }) => ({
        value: id,
        label: work_item_name ?? description,
        note: agent.name,
      }));
    case 'trigger':
      return from(triggers, ({ id, name, agent }) => ({ value: id, label: name, note: agent.name }));
    case 'person':
      return matching(
        from(people, ({ id, name, email }) => ({ value: id, label: name, note: email ?? undefined })),
      );
    case 'api_key':
      return from(keys, ({ id, name, prefix }) => ({ value: id, label: name, note: prefix }));
    case 'llm_configuration':
      return matching({ options: llms.options, loading: llms.nothing !== undefined });
    case 'workspace':
      return { options: [], loading: false };
  }
};

/** The field for one subject of a kind; empty: each of them. */
export const SubjectField = ({ kind, field }: { kind: Kind; field: FieldProps<string | null> }) => {
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState<Option | null>(null);
  // The name of the chosen one is what the field shows, and no search.
  const q = typed === chosen?.label ? '' : typed.trim();
  const { options, loading } = useSubjects(kind, q);
  const others = chosen && options.every(({ value }) => value !== chosen.value) ? [chosen] : [];
  const all = [...options, ...others];
  return (
    <Select
      {...field}
      onChange={(value) => {
        setChosen(all.find((option) => option.value === value) ?? null);
        field.onChange(value);
      }}
      label={words.subject}
      hint={words.subjectHint}
      placeholder={words.each[kind]}
      clearable
      options={all}
      onSearch={setTyped}
      nothing={loading ? common.loading : words.subjectNothing}
    />
  );
};
