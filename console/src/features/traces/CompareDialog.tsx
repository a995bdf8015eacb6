import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useOperation } from '../../api/index.ts';
import type { Trace } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { traces as words } from '../../text/en/traces.ts';
import { Time } from '../../time/index.ts';
import { ActionDialog, Link, Loaded, Muted, TextField, TwoLines } from '../../ui/index.ts';
import css from './traces.module.css';

/** Asks which other trace this one is compared with. */
export const CompareDialog = ({ trace, onClose }: { trace: Trace; onClose: () => void }) => {
  const [other, setOther] = useState('');
  const navigate = useNavigate();
  const { trace_id: a, agent } = trace;
  const got = useOperation('listTraces', {}, { query: { agent_id: agent?.id, limit: 11 }, onFocus: false });
  const href = (b: string) => to('/traces/compare', {}, { a, b });
  return (
    <ActionDialog
      open
      title={words.compareTitle}
      action={words.compare}
      disabledReason={/^[0-9a-f]{32}$/i.test(other.trim()) ? null : words.otherTraceHint}
      onConfirm={() => void navigate({ href: href(other.trim().toLowerCase()) })}
      onClose={onClose}
    >
      <TextField
        label={words.otherTrace}
        hint={words.otherTraceHint}
        value={other}
        onChange={setOther}
        mono
      />
      <section aria-label={words.recent}>
        <h3 className={css.small}>{words.recent}</h3>
        <Loaded got={got} operation="listTraces">
          {({ data }) => {
            const others = data.filter(({ trace_id }) => trace_id !== a).slice(0, 10);
            if (others.length === 0) return <Muted>{words.noRecent}</Muted>;
            return (
              <ul className={css.recent}>
                {others.map((each) => (
                  <li key={each.trace_id}>
                    <Link href={href(each.trace_id)}>
                      <TwoLines below={<Time at={each.started_at} form="both" seconds />}>
                        {each.name || words.unnamed}
                      </TwoLines>
                      <span>{words.micros(each.duration_ms * 1_000)}</span>
                    </Link>
                  </li>
                ))}
              </ul>
            );
          }}
        </Loaded>
      </section>
    </ActionDialog>
  );
};
