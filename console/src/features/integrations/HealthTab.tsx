import { useOperation } from '../../api/index.ts';
import type { IntegrationSample, ShownIntegration } from '../../api/types.gen.ts';
import { common } from '../../text/en/common.ts';
import { integrations as words } from '../../text/en/integrations.ts';
import { number } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import { Box, Facts, Muted, type Outcome, Section, Sparkline, SumBar } from '../../ui/index.ts';
import css from './HealthTab.module.css';

const kinds = {
  delivered: 'on-time',
  queued: 'late',
  rejected: 'missing',
  dead_lettered: 'missing',
  expired: 'skipped',
  discarded: 'skipped',
} as const satisfies Record<keyof typeof words.parts, Outcome>;
const names = Object.keys(kinds) as (keyof typeof kinds)[];

/** Place of every accepted span: the parts add up to what was accepted. */
const Sum = ({ integration: { health } }: { integration: ShownIntegration }) => {
  const accepted = names.reduce((sum, name) => sum + health[name], 0);
  const parts = names.map((name) => ({ label: words.parts[name], value: health[name], kind: kinds[name] }));
  return (
    <Section title={words.where} note={words.sum(accepted)}>
      <Box padded>
        <SumBar parts={parts} label={words.where} />
        <dl className={css.parts}>
          {names.map((name) => (
            <div key={name}>
              <dt>
                <span className={css.dot} data-kind={kinds[name]} /> {words.parts[name]}
              </dt>
              <dd data-none={health[name] === 0 || undefined}>{number(health[name])}</dd>
            </div>
          ))}
        </dl>
      </Box>
    </Section>
  );
};

const stepMs = 600_000;
const steps = 144;

interface Step {
  delivered: number;
  lag: number;
}

/** The samples of a day in steps of 10 minutes: how many spans were delivered in each, and the longest lag. */
const stepsOf = (samples: readonly IntegrationSample[]): Step[] => {
  const last = Math.floor(new Date(samples.at(-1)!.at).getTime() / stepMs);
  const found: Step[] = Array.from({ length: steps }, () => ({ delivered: 0, lag: 0 }));
  for (const [i, { at, delivered, lag_seconds }] of samples.entries()) {
    const step = found[steps - 1 - (last - Math.floor(new Date(at).getTime() / stepMs))];
    if (!step) continue;
    step.lag = Math.max(step.lag, lag_seconds);
    if (i > 0) step.delivered += Math.max(0, delivered - samples[i - 1]!.delivered);
  }
  return found;
};

const History = ({ id }: { id: string }) => {
  const got = useOperation('listIntegrationHistory', { integration_id: id }, { every: 60_000 });
  const samples = got.data?.data ?? [];
  const found = samples.length > 1 ? stepsOf(samples) : [];
  const delivered = found.map((step) => step.delivered);
  const lag = found.map((step) => step.lag);
  const most = Math.max(0, ...delivered);
  const mostLag = Math.max(0, ...lag);
  return (
    <Section title={words.perMinute} note={words.last24}>
      <Box padded>
        <div className={css.history}>
          {found.length === 0 ? (
            <Muted>{got.loading ? common.loading : words.noHistory}</Muted>
          ) : (
            <>
              <Muted small>{words.most(most)}</Muted>
              <div className={css.bars} role="img" aria-label={words.most(most)}>
                {delivered.map((value, i) => (
                  <span
                    // biome-ignore lint/suspicious/noArrayIndexKey: the place is what the bar is about.
                    key={i}
                    style={{ height: value === 0 ? 1 : `${Math.max(3, (value / Math.max(1, most)) * 100)}%` }}
                  />
                ))}
              </div>
              <Muted small>{words.mostLag(mostLag)}</Muted>
              <Sparkline
                values={lag}
                kind={mostLag > 0 ? 'late' : 'skipped'}
                label={words.mostLag(mostLag)}
                most={Math.max(60, mostLag)}
              />
            </>
          )}
        </div>
      </Box>
    </Section>
  );
};

export const HealthTab = ({ integration }: { integration: ShownIntegration }) => {
  const { settings, resolved_url, debug, health, is_system } = integration;
  return (
    <>
      <Sum integration={integration} />
      <History id={integration.id} />
      <Section title={words.destination}>
        <Box padded>
          <Facts
            facts={[
              [words.provider, words.providers[settings.provider]],
              [words.address, <code key="url">{resolved_url ?? settings.url}</code>],
              [words.content, debug ? common.on : common.off],
              [
                words.lastSuccess,
                health.last_success_at ? (
                  <Time key="success" at={health.last_success_at} form="both" />
                ) : (
                  words.never
                ),
              ],
              [
                words.lastError,
                health.last_error ? (
                  <span key="error">
                    {health.last_error}{' '}
                    {health.last_error_at && <Time at={health.last_error_at} form="relative" />}
                  </span>
                ) : (
                  words.noError
                ),
              ],
              is_system && [words.managed, common.yes],
            ]}
          />
        </Box>
      </Section>
    </>
  );
};
