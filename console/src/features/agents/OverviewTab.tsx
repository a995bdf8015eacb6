import { useOperation } from '../../api/index.ts';
import type { AgentOverview } from '../../api/types.gen.ts';
import { Figures } from '../../resource/index.ts';
import { type SearchOf, to } from '../../routing/to.ts';
import { agents as words } from '../../text/en/agents.ts';
import { common } from '../../text/en/common.ts';
import { integrations as integrationWords } from '../../text/en/integrations.ts';
import { number } from '../../text/index.ts';
import { Time } from '../../time/index.ts';
import { Box, Facts, Link, Muted, Section, Words } from '../../ui/index.ts';
import css from './OverviewTab.module.css';
import { emptyMeans, settingNames } from './values.ts';

const Numbers = ({ agent: { open, done_24h, failed_24h, id } }: { agent: AgentOverview }) => {
  const figure = (name: string, value: number, status: SearchOf<'/work-items'>['status']) => ({
    name,
    value,
    href: to('/work-items', {}, { status, agent_id: id }),
  });
  return (
    <Figures
      title={words.now}
      figures={[
        figure(words.executing, open.EXECUTING, 'EXECUTING'),
        figure(words.pending, open.PENDING, 'PENDING'),
        figure(words.waiting, open.NEEDS_REVIEW + open.INDETERMINATE, ['NEEDS_REVIEW', 'INDETERMINATE']),
        figure(words.finished, done_24h, 'COMPLETED'),
        figure(words.ended, failed_24h, 'ERROR'),
      ]}
    />
  );
};

const Limits = ({ agentId }: { agentId: string }) => {
  const { data } = useOperation('getAgent', { agent_id: agentId });
  const unit = (name: string) => (name === 'timeout_seconds' ? ` ${words.seconds}` : '');
  return (
    <Section title={words.limits}>
      <Box padded>
        <Facts
          facts={settingNames.map((name) => {
            const value = data?.settings[name];
            const shown =
              value === undefined
                ? common.loading
                : value === null
                  ? emptyMeans(name)
                  : `${number(value)}${unit(name)}`;
            return [
              words.settings[name],
              <span key={name}>
                {shown} <Muted small>{words.hints[name]}</Muted>
              </span>,
            ] as const;
          })}
        />
      </Box>
    </Section>
  );
};

/** The work of the agent at present, its model, its limits, and the target of its traces. */
export const OverviewTab = ({ agent }: { agent: AgentOverview }) => {
  const { llm, integrations, schedules } = agent;
  return (
    <>
      {agent.mode === 'worker' && <Numbers agent={agent} />}
      <Section title={words.agent}>
        <Box padded>
          <Facts
            facts={[
              [
                words.model,
                llm ? (
                  <span key="llm">
                    {llm.model} <Muted>{llm.is_default ? words.defaultModel : llm.name}</Muted>
                  </span>
                ) : (
                  words.noModel
                ),
              ],
              agent.mode === 'worker' && [
                words.schedules,
                schedules.next_run_at ? (
                  <span key="schedules">
                    {number(schedules.total)}
                    {', '}
                    <Words text={words.nextRun} at={<Time at={schedules.next_run_at} form="relative" />} />
                  </span>
                ) : (
                  number(schedules.total)
                ),
              ],
              [
                words.tracesTo,
                integrations === null ? (
                  words.tracesHidden
                ) : integrations.length === 0 ? (
                  words.tracesNowhere
                ) : (
                  <span key="traces" className={css.list}>
                    {integrations.map(({ id, description, provider }) => (
                      <Link key={id} href={to('/integrations/$integrationId', { integrationId: id })}>
                        {description ||
                          integrationWords.providers[provider as keyof typeof integrationWords.providers]}
                      </Link>
                    ))}
                  </span>
                ),
              ],
            ]}
          />
        </Box>
      </Section>
      <Limits agentId={agent.id} />
    </>
  );
};
