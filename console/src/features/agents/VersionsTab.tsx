import { useState } from 'react';
import { listPolling, useOperation, usePermission } from '../../api/index.ts';
import type { PublicAgent, PublicAgentVersion } from '../../api/types.gen.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { versions as words } from '../../text/en/versions.ts';
import { Time } from '../../time/index.ts';
import {
  Bar,
  Box,
  Button,
  type Column,
  Facts,
  Loaded,
  Muted,
  OutcomeTag,
  Pager,
  permissionReason,
  Section,
  Table,
  TwoLines,
  Words,
} from '../../ui/index.ts';
import { LoadedAgent } from './AgentForm.tsx';
import { ReleaseForm } from './ReleaseForm.tsx';
import { VersionChanges } from './VersionChanges.tsx';
import {
  AbortDialog,
  DiscardDialog,
  PromoteDialog,
  PublishDialog,
  RollBackDialog,
  StartCanaryDialog,
} from './VersionDialogs.tsx';

type Asking = 'publish' | 'discard' | 'canary' | 'promote' | 'abort' | { rollBack: number };

const kinds = { published: 'on-time', canary: 'due', retired: 'skipped', tested: 'due' } as const;

/** Region of the canary that runs. */
const CanaryRegion = ({ agent, ask }: { agent: PublicAgent; ask: (what: Asking) => void }) => {
  const mayAct = permissionReason(usePermission('abortCanary'));
  const { canary } = agent;
  if (!canary) return null;
  return (
    <Section
      title={words.canary}
      note={words.canaryRuns(canary.version, canary.percent)}
      aside={
        <Bar>
          <Button disabledReason={mayAct} onClick={() => ask('abort')}>
            {words.abort}
          </Button>
          <Button kind="primary" disabledReason={mayAct} onClick={() => ask('promote')}>
            {words.promote}
          </Button>
        </Bar>
      }
    >
      <Box padded>
        <Facts
          facts={[
            [words.ofCanary, words.arm(canary.canary.finished, canary.canary.failed)],
            [words.ofPublished, words.arm(canary.published.finished, canary.published.failed)],
          ]}
        />
      </Box>
    </Section>
  );
};

const VersionsOf = ({ agent, etag }: { agent: PublicAgent; etag: string | null }) => {
  const { search, replace } = useUrlState<{ next?: string; from?: string; to?: string }>();
  const [asking, setAsking] = useState<Asking | null>(null);
  const params = { agent_id: agent.id };
  const got = useOperation('listAgentVersions', params, {
    query: { next: search.next },
    every: listPolling(false),
    keepPrevious: true,
  });
  const [polls, setPolls] = useState(false);
  const { data: publications } = useOperation('listAgentPublications', params, {
    query: {},
    every: listPolling(polls),
  });
  const checking = publications?.data.find(({ state }) => state === 'checking') ?? null;
  if (polls !== (checking !== null)) setPolls(checking !== null);
  const draft = useOperation(
    'getAgentVersion',
    { ...params, version: 'draft' },
    { query: { compare_to: 'published' }, enabled: agent.has_changes },
  );
  const pager = useCursor(got.data?.next);
  const mayPublish = permissionReason(usePermission('publishAgent'));
  const close = () => setAsking(null);
  const publicationOf = (number: number) =>
    publications?.data.find(({ version, state }) => version === number && state === 'published');
  const now = publicationOf(agent.version);
  const columns: readonly Column<PublicAgentVersion>[] = [
    {
      key: 'version',
      title: words.version,
      cell: ({ number }) => (
        <TwoLines below={publicationOf(number)?.note ?? publicationOf(number)?.reason ?? ''}>
          {words.versionOf(number)}
        </TwoLines>
      ),
    },
    {
      key: 'state',
      title: words.state,
      cell: ({ state }) => <OutcomeTag kind={kinds[state]}>{words.states[state]}</OutcomeTag>,
    },
    {
      key: 'when',
      title: words.when,
      phone: 'below',
      cell: ({ number, published_at }) =>
        published_at ? (
          <>
            <Time at={published_at} form="relative" />{' '}
            <Muted>{publicationOf(number)?.by && words.by(publicationOf(number)!.by!.name)}</Muted>
          </>
        ) : (
          <Muted>{words.never}</Muted>
        ),
    },
  ];
  return (
    <>
      <Section
        label={words.now}
        note={
          <span role="status">
            {now && (
              <Words
                text={words.runs(agent.version)}
                at={<Time at={now.finished_at ?? now.created_at} form="date" />}
              />
            )}{' '}
            {agent.has_changes
              ? words.differs(draft.data?.changes?.length ?? 0)
              : agent.release === 'automatic'
                ? words.automatic
                : words.same}
            {checking && <> {words.checkRuns}</>}
          </span>
        }
        aside={
          <Bar>
            {agent.has_changes && (
              <>
                <Button
                  kind="primary"
                  disabledReason={mayPublish ?? (agent.canary ? words.canaryFirst : null)}
                  onClick={() => setAsking('publish')}
                >
                  {words.publish}
                </Button>
                <Button disabledReason={mayPublish} onClick={() => setAsking('discard')}>
                  {words.discard}
                </Button>
              </>
            )}
            {!agent.canary && (agent.has_changes || agent.latest_version > 1) && (
              <Button disabledReason={mayPublish} onClick={() => setAsking('canary')}>
                {words.startCanary}
              </Button>
            )}
          </Bar>
        }
      >
        <CanaryRegion agent={agent} ask={setAsking} />
      </Section>
      <Loaded got={got} operation="listAgentVersions">
        {({ data }) => (
          <Section title={words.versions}>
            <Box>
              <Table
                label={words.versions}
                rows={data}
                columns={columns}
                rowKey={({ number }) => String(number)}
                name={({ number }) => words.versionOf(number)}
                actions={({ number, state, published_at }) => [
                  {
                    label: words.rollBack,
                    onSelect: () => setAsking({ rollBack: number }),
                    disabledReason:
                      mayPublish ?? (state === 'published' || !published_at ? words.states[state] : null),
                  },
                  {
                    label: words.compare,
                    onSelect: () => replace({ from: String(number), to: 'draft' }),
                  },
                ]}
              />
            </Box>
            <Pager {...pager} />
          </Section>
        )}
      </Loaded>
      <VersionChanges
        agent={agent}
        from={search.from ?? 'published'}
        to={search.to ?? 'draft'}
        onChange={(next) => replace(next)}
      />
      <ReleaseForm agentId={agent.id} />
      {asking === 'publish' && (
        <PublishDialog agent={agent} etag={etag} onClose={close} checking={checking} />
      )}
      {asking === 'discard' && <DiscardDialog agent={agent} etag={etag} onClose={close} />}
      {asking === 'canary' && <StartCanaryDialog agent={agent} etag={etag} onClose={close} />}
      {asking === 'promote' && <PromoteDialog agent={agent} etag={etag} onClose={close} />}
      {asking === 'abort' && <AbortDialog agent={agent} etag={etag} onClose={close} />}
      {asking !== null && typeof asking === 'object' && (
        <RollBackDialog agent={agent} etag={etag} version={asking.rollBack} onClose={close} />
      )}
    </>
  );
};

/** The versions of an agent: what runs, what differs, and how a change is released. */
export const VersionsTab = ({ agentId }: { agentId: string }) => (
  <LoadedAgent agentId={agentId}>{(agent, got) => <VersionsOf agent={agent} etag={got.etag} />}</LoadedAgent>
);
