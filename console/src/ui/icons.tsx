/** The few drawings of the interface. Each is 20 by 20, drawn in the color of the text, and has no name of its own. */
const icon =
  (d: string, width = 1.6) =>
  () => (
    <svg
      width="20"
      height="20"
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth={width}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={d} />
    </svg>
  );

export const OverviewIcon = icon('M3 3h6v6H3ZM11 3h6v6h-6ZM3 11h6v6H3ZM11 11h6v6h-6Z');
export const ReviewIcon = icon('M3 11l2.5-7h9l2.5 7v5H3ZM3 11h4l1 2h4l1-2h4');
export const SchedulesIcon = icon('M10 3a7 7 0 1 0 .01 0ZM10 6v4l3 2');
export const WorkItemsIcon = icon('M7 5h10M7 10h10M7 15h10M3 5h.01M3 10h.01M3 15h.01');
export const DotsIcon = icon('M4 10h.01M10 10h.01M16 10h.01', 2.2);
export const CopyIcon = icon('M7 7h9v9H7ZM13 7V4H4v9h3', 1.4);
export const CheckIcon = icon('M4 10.5l4 4 8-9', 1.8);
