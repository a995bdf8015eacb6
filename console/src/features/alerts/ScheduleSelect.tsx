import { type ComponentProps, useState } from 'react';
import { useOperation } from '../../api/index.ts';
import { alertRules as words } from '../../text/en/alert-rules.ts';
import { common } from '../../text/en/common.ts';
import { type Option, Select } from '../../ui/index.ts';

/** A schedule of any agent. The server searches. */
export const ScheduleSelect = (
  props: Omit<ComponentProps<typeof Select>, 'options' | 'onSearch' | 'nothing'>,
) => {
  const { value } = props;
  const [typed, setTyped] = useState('');
  const [known, setKnown] = useState<Option | null>(null);
  // The name of the chosen one is what the field shows, and no search.
  const q = typed === known?.label ? '' : typed.trim();
  const { data, loading } = useOperation(
    'listAllSchedules',
    {},
    { query: { q, limit: 50 }, keepPrevious: true },
  );
  const listed = (data?.data ?? []).map(({ id, work_item_name, agent, description }) => ({
    value: id,
    label: work_item_name ?? description,
    note: agent.name,
  }));
  const isKnown = value === null || known?.value === value || listed.some((one) => one.value === value);
  const { data: other } = useOperation('findSchedule', data && !isKnown ? { schedule_id: value } : null);
  const chosen =
    listed.find((one) => one.value === value) ??
    (other?.id === value
      ? { value: other.id, label: other.work_item_name ?? other.description, note: other.agent.name }
      : undefined);
  if (chosen && chosen.value !== known?.value) setKnown(chosen);
  const others = known && known.value === value && listed.every((one) => one.value !== value) ? [known] : [];
  return (
    <Select
      {...props}
      options={[...listed, ...others]}
      onSearch={setTyped}
      nothing={loading ? common.loading : words.noScheduleMatches}
    />
  );
};
