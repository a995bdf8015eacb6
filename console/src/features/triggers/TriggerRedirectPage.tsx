import { Navigate, useParams } from '@tanstack/react-router';
import { useOperation } from '../../api/index.ts';
import { to } from '../../routing/to.ts';
import { pages } from '../../text/en/pages.ts';
import { Gone, Loaded, Page } from '../../ui/index.ts';

const list = { label: pages.triggers, href: to('/triggers') };

/** Leads from `/triggers/$id` to the page of the trigger, whose address names its agent. The query stays. */
export const TriggerRedirectPage = () => {
  const { triggerId } = useParams({ from: '/shell/triggers/$triggerId' });
  const got = useOperation('listAllTriggers', {}, { query: { q: triggerId } });
  return (
    <Page title={pages.trigger} crumbs={[list]}>
      <Loaded got={got} operation="listTriggers" list={list}>
        {({ data }) => {
          const found = data.find(({ id }) => id === triggerId);
          return found ? (
            <Navigate
              to="/agents/$agentId/triggers/$triggerId"
              params={{ agentId: found.agent.id, triggerId }}
              search
              replace
            />
          ) : (
            <Gone list={list} audit={to('/audit', {}, { target_id: triggerId })} />
          );
        }}
      </Loaded>
    </Page>
  );
};
