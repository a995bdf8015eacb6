import { useNavigate } from '@tanstack/react-router';
import { workItems as words } from '../../../text/en/work-items.ts';
import { ButtonLink, useKeys } from '../../../ui/index.ts';
import { trailOf } from '../trail.ts';

/** The previous and the next Work Item of the list that it came from; `k` and `j` go there, too. */
export const Neighbors = ({ id }: { id: string }) => {
  const { previous, next } = trailOf(id);
  const navigate = useNavigate();
  const go = (href: string | null) => () => href !== null && void navigate({ href });
  useKeys({ k: go(previous), j: go(next) });
  return (
    <>
      {previous && (
        <ButtonLink kind="quiet" href={previous}>
          {words.previous}
        </ButtonLink>
      )}
      {next && (
        <ButtonLink kind="quiet" href={next}>
          {words.next}
        </ButtonLink>
      )}
    </>
  );
};
