import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type LoadState, listPolling, useOperation } from '../../api/index.ts';
import type { PublicTrigger } from '../../api/types.gen.ts';
import { PageTabs } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { triggerDetail as words } from '../../text/en/trigger-detail.ts';
import { Columns, Loaded, Page, Skeleton, useKeptFocus } from '../../ui/index.ts';
import { Actions } from './detail/Actions.tsx';
import { Connect } from './detail/Connect.tsx';
import { DefinitionBox, Raw, Reading } from './detail/Definition.tsx';
import css from './detail/detail.module.css';
import { Events } from './detail/Events.tsx';
import { History } from './detail/History.tsx';
import { Lead } from './detail/Lead.tsx';
import { Why } from './detail/Why.tsx';

const list = { label: pages.triggers, href: to('/triggers') };

const stateOf = ({ enabled, blocked_reason }: PublicTrigger): string | undefined => {
  if (!enabled) return words.statePaused;
  return blocked_reason === null ? undefined : words.stateBlocked;
};

/** The tabs, and at their side why an event started nothing, and the definition. */
const Content = ({ trigger }: { trigger: PublicTrigger }) => {
  const side = (
    <div className={css.side}>
      <Why trigger={trigger} />
      {trigger.reading && <Reading reading={trigger.reading} />}
      <DefinitionBox trigger={trigger} />
    </div>
  );
  const withSide = (tab: ReactNode) => () => <Columns side={side}>{tab}</Columns>;
  return (
    <PageTabs
      label={words.tabs}
      words={words}
      keeps={['outcome', 'from', 'to', 'q', 'why']}
      tabs={{
        events: withSide(<Events trigger={trigger} />),
        connect: withSide(<Connect trigger={trigger} />),
        history: withSide(<History trigger={trigger} />),
        raw: () => <Raw trigger={trigger} />,
      }}
    />
  );
};

const Shown = ({ trigger, got }: { trigger: PublicTrigger; got: LoadState<PublicTrigger> }) => {
  useKeptFocus(String(trigger.enabled));
  const agent = useOperation('getAgent', { agent_id: trigger.agent_id });
  const agentHref = to('/agents/$agentId', { agentId: trigger.agent_id });
  return (
    <Page
      title={trigger.name}
      titlePrefix={stateOf(trigger)}
      crumbs={[list, { label: agent.data?.name ?? pages.agent, href: agentHref }]}
      lead={<Lead trigger={trigger} />}
      actions={<Actions trigger={trigger} etag={got.etag} />}
    >
      <Loaded got={got}>{() => <Content trigger={trigger} />}</Loaded>
    </Page>
  );
};

/** The page of one trigger: each event with what came of it and why, how to send one, and the changes. */
export const TriggerPage = () => {
  const { agentId, triggerId } = useParams({ from: '/shell/agents/$agentId/triggers/$triggerId' });
  const got = useOperation(
    'getTrigger',
    { agent_id: agentId, trigger_id: triggerId },
    { every: listPolling(false) },
  );
  const { data, error } = got;
  if (data && error?.status !== 404) return <Shown key={data.id} trigger={data} got={got} />;
  return (
    <Page title={pages.trigger} crumbs={[list]}>
      <Loaded
        got={got}
        operation="getTrigger"
        list={list}
        audit={to('/audit', {}, { target_id: triggerId })}
        skeleton={<Skeleton rows={10} height={55} />}
      >
        {() => null}
      </Loaded>
    </Page>
  );
};
