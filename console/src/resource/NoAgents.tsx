import { useBaseUrl } from '../api/index.ts';
import { to } from '../routing/to.ts';
import { pages } from '../text/en/pages.ts';
import { Box, ButtonLink, curlOf, EmptyState, useDisabledReason } from '../ui/index.ts';

/** The place of a form that needs an agent, while there is none. `example` is the name of the agent in the command. */
export const NoAgents = ({ sentence, example }: { sentence: string; example: string }) => (
  <Box>
    <EmptyState
      sentence={sentence}
      action={
        <ButtonLink kind="primary" href={to('/agents/new')} disabledReason={useDisabledReason('createAgent')}>
          {pages.newAgent}
        </ButtonLink>
      }
      curl={curlOf(useBaseUrl(), 'createAgent', {}, { body: { name: example, mode: 'worker' } })}
    />
  </Box>
);
