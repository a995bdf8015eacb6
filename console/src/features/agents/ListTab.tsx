import type { LoadState, OperationId } from '../../api/index.ts';
import { useCursor } from '../../routing/url-state.ts';
import {
  Bar,
  Box,
  ButtonLink,
  type Column,
  EmptyState,
  Loaded,
  Pager,
  Section,
  Table,
  useDisabledReason,
} from '../../ui/index.ts';

/** What a tab of an agent lists, with the button that creates one more. */
export const ListTab = <T extends { id: string }>({
  label,
  got,
  operation,
  columns,
  name,
  href,
  create,
  none,
}: {
  label: string;
  got: LoadState<{ data: T[]; next?: string | null }>;
  /** What `got` was read by. */
  operation: OperationId;
  columns: readonly Column<T>[];
  name: (row: T) => string;
  href: (row: T) => string;
  create: { label: string; operation: OperationId; href: string };
  /** Said if there is none. */
  none: string;
}) => {
  const pager = useCursor(got.data?.next);
  const button = (
    <ButtonLink href={create.href} disabledReason={useDisabledReason(create.operation)}>
      {create.label}
    </ButtonLink>
  );
  return (
    <Loaded got={got} operation={operation}>
      {({ data }) => (
        <Section label={label} aside={data.length > 0 && <Bar>{button}</Bar>}>
          <Box>
            {data.length === 0 ? (
              <EmptyState sentence={none} action={button} />
            ) : (
              <Table
                label={label}
                rows={data}
                columns={columns}
                rowKey={({ id }) => id}
                name={name}
                href={href}
              />
            )}
          </Box>
          <Pager {...pager} />
        </Section>
      )}
    </Loaded>
  );
};
