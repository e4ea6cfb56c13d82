/* Put into copies of pages that stand in frames of another one: tells that one what became of the page. */
window.addEventListener('load', function () {
	'use strict';
	var root = document.documentElement;
	var told = {};
	var search = document.querySelector('#filter input[type=search]');

	function count(selector) {
		return document.querySelectorAll(selector).length;
	}

	function tell(name, value) {
		told[name] = String(value);
	}

	tell('name', window.name);
	tell('cells', count('td.outcome'));
	tell('width', window.innerWidth);
	tell('overflow', Math.max(0, root.scrollWidth - window.innerWidth));
	tell('title', document.title);
	tell('scripts', count('script'));
	tell('filter', search ? !search.form.hidden : false);
	tell('closed', count('details:not([open])'));
	if (search) {
		search.value = Array.from(document.querySelectorAll('article.clause')).pop().id.toLowerCase();
		search.dispatchEvent(new Event('input'));
		tell('found', count('article.clause:not([hidden])'));
		search.value = '';
		search.dispatchEvent(new Event('input'));
		tell('all', count('article.clause:not([hidden])') === count('article.clause'));
		document.querySelector('#filter input[type=checkbox]').click();
		tell('chosen', new Set(Array.from(document.querySelectorAll('article.clause:not([hidden])'), function (clause) {
			return clause.dataset.verdict;
		})).size);
		document.querySelector('#filter input[type=checkbox]').click();
	}
	location.hash = '#' + (search ? document.querySelector('article.clause:last-of-type').id : '');
	setTimeout(function () {
		var target = document.querySelector(':target');

		tell('opened', target ? target.closest('details').open : '');
		window.dispatchEvent(new Event('beforeprint'));
		tell('unprinted', count('details:not([open])'));
		parent.postMessage(told, '*');
	}, 100);
});
