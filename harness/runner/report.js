/* Filters the clauses; the page says everything without it. No less-than sign and no ampersand: it stands in XML. */
(function () {
	'use strict';
	var form = document.getElementById('filter');
	var functions = Array.from(document.querySelectorAll('details.function'));
	var clauses = Array.from(document.querySelectorAll('article.clause'));
	var folds = Array.from(document.querySelectorAll('details'));
	var texts = new Map();
	var chosen = new Set();
	var select, search, button, output, opened;

	function reveal() {
		var id = decodeURIComponent(location.hash.slice(1));
		var target = id ? document.getElementById(id) : null;
		var place = target;

		for (; place; place = place.parentElement) {
			if (place.tagName.toLowerCase() === 'details')
				place.open = true;
		}
		if (target)
			target.scrollIntoView();
	}

	function textOf(clause) {
		if (!texts.has(clause))
			texts.set(clause, clause.textContent.toLowerCase());
		return texts.get(clause);
	}

	function fits(clause, word) {
		var home = clause.closest('details.function');

		if (chosen.size ? !chosen.has(clause.dataset.verdict) : false)
			return false;
		if (select.value ? select.value !== home.id : false)
			return false;
		return !word || textOf(clause).includes(word);
	}

	function hideEmpty(element) {
		element.hidden = !element.querySelector('article.clause:not([hidden])');
	}

	function apply() {
		var word = search.value.trim().toLowerCase();
		var active = Boolean(chosen.size || select.value || word);
		var shown = 0;

		clauses.forEach(function (clause) {
			clause.hidden = !fits(clause, word);
			if (!clause.hidden)
				shown += 1;
		});
		functions.forEach(function (part) {
			part.querySelectorAll('section').forEach(active ? hideEmpty : function (section) {
				section.hidden = false;
			});
			if (active) {
				hideEmpty(part);
				part.open = !part.hidden;
			} else {
				part.hidden = false;
			}
		});
		output.textContent = active ? shown + ' of ' + clauses.length + ' clauses' : '';
		form.classList.toggle('active', active);
	}

	function addVerdict(verdict, sample) {
		var label = document.createElement('label');
		var box = document.createElement('input');
		var text = document.createElement('b');
		var count = clauses.filter(function (clause) {
			return clause.dataset.verdict === verdict;
		}).length;

		box.type = 'checkbox';
		text.className = 'verdict';
		text.dataset.verdict = verdict;
		text.textContent = sample + ' ' + count;
		label.append(box, text);
		box.addEventListener('change', function () {
			if (box.checked)
				chosen.add(verdict);
			else
				chosen.delete(verdict);
			apply();
		});
		form.querySelector('.verdicts').append(label);
	}

	function addOption(value, text) {
		var option = document.createElement('option');

		option.value = value;
		option.textContent = text;
		select.append(option);
	}

	function setUpFilter() {
		var seen = new Map();

		select = form.querySelector('select');
		search = form.querySelector('input');
		button = form.querySelector('button');
		output = form.querySelector('output');
		clauses.forEach(function (clause) {
			if (!seen.has(clause.dataset.verdict))
				seen.set(clause.dataset.verdict, clause.querySelector('b').textContent);
		});
		seen.forEach(function (sample, verdict) {
			addVerdict(verdict, sample);
		});
		addOption('', 'all functions');
		functions.forEach(function (part) {
			addOption(part.id, part.id);
		});
		select.addEventListener('change', apply);
		search.addEventListener('input', apply);
		button.addEventListener('click', function () {
			var open = functions.some(function (part) {
				return !part.open;
			});

			functions.forEach(function (part) {
				part.open = open;
			});
			button.textContent = open ? 'Close all' : 'Open all';
		});
		form.addEventListener('submit', function (event) {
			event.preventDefault();
		});
		form.hidden = false;
	}

	/* What is open in the source, so that it can be read and printed without a script, need not be open here. */
	folds.forEach(function (fold) {
		fold.open = false;
	});
	window.addEventListener('beforeprint', function () {
		opened = folds.filter(function (fold) {
			return fold.open;
		});
		folds.forEach(function (fold) {
			fold.open = true;
		});
	});
	window.addEventListener('afterprint', function () {
		folds.forEach(function (fold) {
			fold.open = opened.includes(fold);
		});
	});
	window.addEventListener('hashchange', reveal);
	document.addEventListener('click', function (event) {
		var link = event.target.closest('a[href^="#"]');

		if (link ? link.getAttribute('href') === location.hash : false)
			reveal();
	});
	if (form)
		setUpFilter();
	reveal();
}());
