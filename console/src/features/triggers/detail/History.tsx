import { useOperation } from '../../../api/index.ts';
import type { PublicTrigger, TriggerVersion } from '../../../api/types.gen.ts';
import { useCursor, useUrlState } from '../../../routing/url-state.ts';
import { triggerDetail as words } from '../../../text/en/trigger-detail.ts';
import { Time } from '../../../time/index.ts';
import { Box, type Column, Loaded, Pager, Skeleton, Table, Tag, TwoLines } from '../../../ui/index.ts';
import type { TriggerSearch } from '../search.ts';
import { paramsOf } from '../shared/params.ts';

const columns: readonly Column<TriggerVersion>[] = [
  {
    key: 'when',
    title: words.changedWhen,
    width: '128px',
    cell: ({ at }) => <Time at={at} form="day" />,
  },
  {
    key: 'what',
    title: words.whatChanged,
    phone: 'below',
    cell: ({ text, reason, enabled }) => (
      <>
        <TwoLines below={reason}>{text}</TwoLines>
        {!enabled && <Tag>{words.off}</Tag>}
      </>
    ),
  },
  { key: 'by', title: words.by, width: '24%', phone: 'below', cell: ({ by }) => by.name },
];

/** The versions of the definition: what changed, when and by whom. */
export const History = ({ trigger }: { trigger: PublicTrigger }) => {
  const { next } = useUrlState<TriggerSearch>().search;
  const got = useOperation('listTriggerVersions', paramsOf(trigger), { query: { next }, keepPrevious: true });
  const pager = useCursor(got.data?.next);
  return (
    <>
      <Loaded got={got} operation="listTriggerVersions" skeleton={<Skeleton rows={5} height={55} />}>
        {({ data }) => (
          <Box>
            <Table
              label={words.versions}
              columns={columns}
              rows={data}
              rowKey={({ revision }) => `revision-${revision}`}
              name={({ text }) => text}
            />
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </>
  );
};
