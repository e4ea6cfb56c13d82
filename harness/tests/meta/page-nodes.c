/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page-nodes [--html] FILE XPATH [ATTRIBUTE...]: of every node that the expression finds, in the
 * order of the page, the attributes separated by tabs, or its text where none are named.  The page
 * is read as XML, so one that is not well-formed ends it with status 1; with --html as a browser's
 * dump is.  Elements are named without a namespace.
 */
#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <stdio.h>
#include <string.h>

static void print_node(xmlNode *node, char **attributes)
{
	char **attribute;

	if (!*attributes) {
		xmlChar *text = xmlNodeGetContent(node);

		printf("%s\n", (const char *)text);
		xmlFree(text);
		return;
	}
	for (attribute = attributes; *attribute; attribute++) {
		xmlChar *value = xmlGetProp(node, BAD_CAST * attribute);

		printf("%s%s", attribute == attributes ? "" : "\t",
		       value ? (const char *)value : "");
		xmlFree(value);
	}
	putchar('\n');
}

/* One namespace for all would have to be named in every step of an expression. */
static void forget_namespaces(xmlNode *node)
{
	for (; node; node = node->next) {
		if (node->type != XML_ELEMENT_NODE)
			continue;
		node->ns = NULL;
		forget_namespaces(node->children);
	}
}

static int print_nodes(xmlDoc *page, const char *expression, char **attributes)
{
	xmlXPathContext *context = xmlXPathNewContext(page);
	xmlXPathObject *found = xmlXPathEvalExpression(BAD_CAST expression, context);
	int i;

	if (!found || found->type != XPATH_NODESET)
		return 2;
	for (i = 0; found->nodesetval && i < found->nodesetval->nodeNr; i++)
		print_node(found->nodesetval->nodeTab[i], attributes);
	xmlXPathFreeObject(found);
	xmlXPathFreeContext(context);
	return 0;
}

int main(int argc, char **argv)
{
	int is_html = argc > 1 && strcmp(argv[1], "--html") == 0;
	char **operands = argv + 1 + is_html;
	xmlDoc *page;
	int status;

	if (argc < 3 + is_html)
		return 2;
	page = is_html ? htmlReadFile(operands[0], "UTF-8",
				      HTML_PARSE_RECOVER | HTML_PARSE_NOERROR |
					      HTML_PARSE_NOWARNING)
		       : xmlReadFile(operands[0], "UTF-8", XML_PARSE_NONET | XML_PARSE_HUGE);
	if (!page)
		return 1;
	forget_namespaces(xmlDocGetRootElement(page));
	status = print_nodes(page, operands[1], operands + 2);
	xmlFreeDoc(page);
	return status;
}
