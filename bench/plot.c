/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Colours are those of Okabe and Ito, which colour-blind people can tell apart; ours are broad and
 * solid, peers thin and dashed, and each line has its name beside its end.
 */
#include "plot.h"

#include <math.h>
#include <stdlib.h>

#include "format.h"

enum { WIDTH = 480, HEIGHT = 330, LEFT = 78, RIGHT = 300, TOP = 14, BOTTOM = 292, LINE = 17 };

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
				      "#56b4e9", "#8a8a8a", "#a6761d", "#7570b3", "#666600"};
static const char *const dashes[] = {"6 3", "2 3", "8 3 2 3", "4 2"};

struct axis {
	double low, high; /* decimal logarithms */
};

struct plot {
	const struct results_of *of;
	enum plot_of what;
	struct axis x, y;
};

static const char *colour_of(size_t subject)
{
	return colours[subject % (sizeof(colours) / sizeof(*colours))];
}

/* Of one subject: where its line ends and where its name is. */
struct label {
	size_t subject;
	double y;
};

static double value_at(const struct plot *plot, size_t size, size_t subject)
{
	double median = plot->of->figures[size][subject].median;

	if (plot->of->figures[size][subject].count == 0 || median <= 0)
		return 0;
	return plot->what == PLOT_TIME ? median : (double)plot->of->sizes[size] / median * 1e9;
}

static double x_of(const struct plot *plot, double size)
{
	return LEFT + (log10(size) - plot->x.low) / (plot->x.high - plot->x.low) * (RIGHT - LEFT);
}

static double y_of(const struct plot *plot, double value)
{
	return BOTTOM -
	       (log10(value) - plot->y.low) / (plot->y.high - plot->y.low) * (BOTTOM - TOP);
}

/* Whole decades above and below. */
static void find_axes(struct plot *plot)
{
	size_t size, subject;

	plot->x = (struct axis){log10((double)plot->of->sizes[0]),
				log10((double)plot->of->sizes[plot->of->size_count - 1])};
	plot->y = (struct axis){INFINITY, -INFINITY};
	for (size = 0; size < plot->of->size_count; size++) {
		for (subject = 0; subject < plot->of->subject_count; subject++) {
			double value = value_at(plot, size, subject);

			if (value <= 0)
				continue;
			plot->y.low = fmin(plot->y.low, floor(log10(value)));
			plot->y.high = fmax(plot->y.high, ceil(log10(value) + 1e-9));
		}
	}
}

char *plot_size(enum size_kind kind, double size)
{
	if (kind == SIZE_COUNT)
		return format_text("%.0f", size);
	if (size >= 1 << 20)
		return format_text("%.0f MiB", size / (1 << 20));
	return size >= 1024 ? format_text("%.0f KiB", size / 1024) : format_text("%.0f B", size);
}

char *plot_value(enum plot_of what, double value)
{
	static const char *const units[][4] = {{"ns", "\u00b5s", "ms", "s"},
					       {"B/s", "kB/s", "MB/s", "GB/s"}};
	int unit = 0;

	for (; value >= 999.5 && unit < 3; unit++)
		value /= 1000;
	return format_text(value < 9.95 ? "%.2g %s" : "%.0f %s", value, units[what][unit]);
}

static void write_text(struct html_page *page, double x, double y, const char *anchor,
		       const char *colour, char *text)
{
	char *left = format_text("%.1f", x), *down = format_text("%.1f", y);

	html_start(page, "text", "x", left, "y", down, "text-anchor", anchor, "fill",
		   colour ? colour : "currentColor", NULL);
	html_text(page, text);
	html_end(page);
	free(left);
	free(down);
	free(text);
}

static void write_path(struct html_page *page, char *path, const char *colour, const char *width,
		       const char *dash)
{
	html_start(page, "path", "d", path, "fill", "none", "stroke", colour, "stroke-width", width,
		   "stroke-dasharray", dash, "stroke-linejoin", "round", NULL);
	html_end(page);
	free(path);
}

static void write_axes(struct html_page *page, const struct plot *plot)
{
	size_t count = plot->of->size_count, step = (count + 3) / 4, i;
	double decade;

	for (decade = plot->y.low; decade <= plot->y.high; decade++) {
		double y = y_of(plot, pow(10, decade));

		write_path(page, format_text("M%d %.1fH%d", LEFT, y, RIGHT), "#8888", "1", NULL);
		write_text(page, LEFT - 6, y + 5, "end", NULL,
			   plot_value(plot->what, pow(10, decade)));
	}
	for (i = 0; i < count; i += step) {
		double x = x_of(plot, (double)plot->of->sizes[i]);

		write_path(page, format_text("M%.1f %dV%d", x, BOTTOM, BOTTOM + 5), "currentColor",
			   "1", NULL);
		write_text(page, x, BOTTOM + 20, "middle", NULL,
			   plot_size(plot->of->measurement->kind, (double)plot->of->sizes[i]));
	}
}

/* So that a line of one size is seen. */
static void write_dot(struct html_page *page, double x, double y, const char *colour)
{
	char *left = format_text("%.1f", x), *down = format_text("%.1f", y);

	html_start(page, "circle", "cx", left, "cy", down, "r", "3", "fill", colour, NULL);
	html_end(page);
	free(left);
	free(down);
}

static double write_line(struct html_page *page, const struct plot *plot, size_t subject)
{
	bool is_peer = plot->of->measurement->subjects[subject]->is_peer;
	char *path = NULL;
	size_t length, size;
	FILE *stream = text_stream(&path, &length);
	double last = 0;

	for (size = 0; size < plot->of->size_count; size++) {
		double value = value_at(plot, size, subject);

		if (value <= 0)
			continue;
		fprintf(stream, "%s%.1f %.1f", last > 0 ? "L" : "M",
			x_of(plot, (double)plot->of->sizes[size]), y_of(plot, value));
		last = y_of(plot, value);
		write_dot(page, x_of(plot, (double)plot->of->sizes[size]), last,
			  colour_of(subject));
	}
	fclose(stream);
	write_path(page, path, colour_of(subject), is_peer ? "1.8" : "3",
		   is_peer ? dashes[subject % 4] : NULL);
	return last;
}

static int by_height(const void *a, const void *b)
{
	double x = ((const struct label *)a)->y, y = ((const struct label *)b)->y;

	return (x > y) - (x < y);
}

/* From the top, each at least a line below the one above; then from the bottom, if they ran out of
 * it. */
static void spread(struct label *labels, size_t count)
{
	size_t i;

	qsort(labels, count, sizeof(*labels), by_height);
	for (i = 1; i < count; i++)
		labels[i].y = fmax(labels[i].y, labels[i - 1].y + LINE);
	if (count && labels[count - 1].y > BOTTOM)
		labels[count - 1].y = BOTTOM;
	for (i = count; i-- > 1;)
		labels[i - 1].y = fmin(labels[i - 1].y, labels[i].y - LINE);
}

static void write_lines(struct html_page *page, const struct plot *plot)
{
	struct label labels[MOST_SUBJECTS];
	size_t count = 0, i;

	for (i = 0; i < plot->of->subject_count; i++) {
		double y = write_line(page, plot, i);

		if (y > 0)
			labels[count++] = (struct label){i, y};
	}
	spread(labels, count);
	for (i = 0; i < count; i++) {
		size_t subject = labels[i].subject;

		write_text(page, RIGHT + 8, labels[i].y + 4, "start", colour_of(subject),
			   copy_text(plot->of->measurement->subjects[subject]->name));
	}
}

void plot_write(struct html_page *page, const struct results_of *of, enum plot_of what)
{
	struct plot plot = {.of = of, .what = what};
	char *box = format_text("0 0 %d %d", WIDTH, HEIGHT);
	char *title = format_text("%s: %s over %s, both logarithmic", of->measurement->title,
				  what == PLOT_TIME ? "time" : "bandwidth",
				  of->measurement->kind == SIZE_BYTES ? "size" : "number");

	find_axes(&plot);
	html_line(page);
	html_start(page, "figure", "style", "margin:0", NULL);
	html_start(page, "svg", "xmlns", "http://www.w3.org/2000/svg", "viewBox", box, "role",
		   "img", "aria-label", title, "style", "width:100%;max-width:44rem;font-size:15px",
		   NULL);
	if (isfinite(plot.y.low)) {
		write_axes(page, &plot);
		write_lines(page, &plot);
	}
	html_end(page);
	html_element(page, "figcaption", NULL,
		     what == PLOT_TIME ? "Median time" : "Bandwidth by the median time");
	html_end(page);
	free(box);
	free(title);
}
